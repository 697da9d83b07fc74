import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { beforeEach, describe, expect, test } from '@jest/globals';
import type { StreamNote } from '../../../application/audit/audit-notes.ts';
import { ForeignNotesError, SqliteAuditNotes } from '../../../infrastructure/sqlite/audit-notes.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

let directory: string;
beforeEach(async () => {
  directory = temporaryDirectory();
});

const note = (inLog: number): StreamNote => ({ inLog, read: 2, hash: 'h', payments: 1, inFeed: 1 });
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const claim = (key: string, place: string) => ({ key: bytes(key), place: bytes(place) });

describe('notes of an audit', () => {
  test('that cannot be opened name their file', () => {
    const path = join(directory, 'nowhere', 'notes.db');
    expect(() => new SqliteAuditNotes(path)).toThrow(
      `${path} cannot hold the notes of an audit: unable to open`,
    );
  });

  test('hold more streams than memory does, each as it was noted last', () => {
    const notes = new SqliteAuditNotes();
    const count = 150_000;
    for (let i = 0; i < count; i++) notes.noteStream(`loan-app-1.${i}`, note(1));
    for (let i = 0; i < count; i += 1_000) notes.noteStream(`loan-app-1.${i}`, note(7));
    expect(notes.stream('loan-app-1.0')).toEqual(note(7));
    expect(notes.stream('loan-app-1.1')).toEqual(note(1));
    expect(notes.stream('loan-app-1.none')).toBeUndefined();
    const all = new Map(notes.streams());
    expect(all.size).toBe(count);
    expect([...all.values()].filter(({ inLog }) => inLog === 7)).toHaveLength(150);
    notes.close();
  });

  test('pair each used key with the last claim of it', () => {
    const notes = new SqliteAuditNotes();
    for (const stream of ['paired', 'superseded', 'missing', 'taken']) notes.noteStream(stream, note(1));
    notes.noteUsed('paired', [claim('a', 'a1'), claim('b', 'b1')]);
    notes.noteClaims([claim('a', 'before'), claim('c', 'c1'), claim('d', 'd1')]);
    notes.noteUsed('superseded', [claim('c', 'c1')]);
    notes.noteUsed('missing', [claim('e', 'e1')]);
    notes.noteUsed('taken', [claim('d', 'other'), claim('a', 'a1')]);
    notes.noteClaims([claim('a', 'a1'), claim('b', 'b1'), claim('c', 'c2')]);
    expect([...notes.unpaired()]).toEqual(['superseded', 'missing', 'taken']);
    expect([...notes.unpaired()]).toEqual(['superseded', 'missing', 'taken']);
    notes.close();
  });

  test('that are kept go back to what was saved when the process ended', () => {
    const path = join(directory, 'notes.db');
    const first = new SqliteAuditNotes(path);
    expect(first.saved()).toBeUndefined();
    first.noteStream('kept', note(1));
    first.noteDifference('one');
    first.noteHead({ stream: 'kept', revision: 3, hash: 'h' });
    first.save('here');
    first.noteStream('kept', note(2));
    first.noteStream('lost', note(1));
    first.noteDifference('two');
    first.noteClaims([claim('a', 'a')]);
    first.close();
    const second = new SqliteAuditNotes(path);
    expect(second.saved()).toBe('here');
    expect([...second.streams()]).toEqual([['kept', note(1)]]);
    expect([...second.differences()]).toEqual(['one']);
    expect([...second.heads()]).toEqual([{ stream: 'kept', revision: 3, hash: 'h' }]);
    second.forgetHeads();
    expect(second.head('kept')).toBeUndefined();
    second.noteStream('next', note(1));
    expect(second.stream('next')).toEqual(note(1));
    second.close();
  });

  test('of an earlier version are not gone on with', () => {
    const path = join(directory, 'earlier.db');
    const earlier = new DatabaseSync(path);
    earlier.exec('create table stream (id integer primary key, name text, in_log, read, hash, payments)');
    earlier.close();
    expect(() => new SqliteAuditNotes(path)).toThrow(ForeignNotesError);
  });

  test('are not written into a file that is something else', () => {
    const path = join(directory, 'letter.txt');
    writeFileSync(path, 'not a database, and long enough to be looked at as one'.repeat(50));
    expect(() => new SqliteAuditNotes(path)).toThrow(ForeignNotesError);
  });

  test('are not written into the database of something else, which would go when the audit is done', () => {
    const path = join(directory, 'events.db');
    const database = new DatabaseSync(path);
    database.exec('create table events (id text)');
    database.close();
    const before = readFileSync(path);
    expect(() => new SqliteAuditNotes(path)).toThrow('with a table events');
    expect(readFileSync(path).equals(before)).toBe(true);
  });
});
