import { describe, expect, test } from '@jest/globals';
import { createHash, randomBytes } from 'node:crypto';
import { chmod, readFile, readdir, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DamagedDocumentError, NoOperationKeyError } from '../../../application/ports/document-store.ts';
import type { ReceivedFile } from '../../../application/ports/document-store.ts';
import { receivedFile } from '../../support/received-file.ts';
import { documentsInFiles } from './support/documents-in-files.ts';

const STREAM = 'loan-app.P-1';
const sha256 = (content: Uint8Array | string): string => createHash('sha256').update(content).digest('hex');

describe('sealed documents in files', () => {
  const documents = documentsInFiles(STREAM);

  const received = (content: Uint8Array | string, claimed = content): ReceivedFile =>
    receivedFile('contract.pdf', content, { sha256: sha256(claimed) });
  const pathOf = (stream: string, digest: string): string =>
    join(documents.directory, 'documents', sha256(stream), digest);
  const drafts = (): Promise<string[]> => readdir(join(documents.directory, 'documents', '.incoming'));

  test.each([
    ['an empty file', Buffer.alloc(0)],
    ['a small file', Buffer.from('%PDF-1.7 confidential')],
    ['exactly one chunk', randomBytes(256 * 1024)],
    ['several chunks', randomBytes(1_000_003)],
  ])('%s comes back as it was, also to another process', async (_, content) => {
    const file = received(content);
    await documents.store.put(STREAM, file);
    const other = documents.another();
    for (const reader of [documents.store, other]) {
      const read = await reader.get(STREAM, file.sha256);
      expect(read !== undefined && content.equals(read)).toBe(true);
    }
    expect(await drafts()).toEqual([]);
  });

  test('lies on disk sealed, under two digests, for the owner only', async () => {
    const file = received('%PDF-1.7 confidential');
    await documents.store.put(STREAM, file);
    const path = pathOf(STREAM, file.sha256);
    expect((await readFile(path)).toString('latin1')).not.toContain('confidential');
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect((await stat(join(path, '..'))).mode & 0o777).toBe(0o700);
  });

  test('storing twice, or many times at once, is storing once', async () => {
    const file = received(randomBytes(300_000));
    await Promise.all(Array.from({ length: 8 }, () => documents.store.put(STREAM, file)));
    const before = await readFile(pathOf(STREAM, file.sha256));
    await documents.store.put(STREAM, file);
    expect(before.equals(await readFile(pathOf(STREAM, file.sha256)))).toBe(true);
    expect(await readdir(join(pathOf(STREAM, file.sha256), '..'))).toEqual([file.sha256]);
    expect(await drafts()).toEqual([]);
  });

  test('what was never stored is not there: another operation, another digest, a digest that is none', async () => {
    const file = received('content');
    await documents.store.put(STREAM, file);
    expect(await documents.store.get('loan-app.P-2', file.sha256)).toBeUndefined();
    expect(await documents.store.get(STREAM, sha256('other'))).toBeUndefined();
    expect(await documents.store.get(STREAM, '../../etc/passwd')).toBeUndefined();
    await expect(documents.store.put(STREAM, { ...file, sha256: '../x' })).rejects.toThrow(TypeError);
  });

  test('a file that is not what was received is refused and leaves nothing', async () => {
    const file = received('other content', 'content');
    await expect(documents.store.put(STREAM, file)).rejects.toThrow(DamagedDocumentError);
    expect(await documents.store.get(STREAM, file.sha256)).toBeUndefined();
    expect(await drafts()).toEqual([]);
  });

  test.each([
    ['one bit in the content', (sealed: Buffer) => sealed.fill((sealed[40] ?? 0) ^ 1, 40, 41)],
    ['one bit in the nonce', (sealed: Buffer) => sealed.fill((sealed[15] ?? 0) ^ 1, 15, 16)],
    ['the end cut off', (sealed: Buffer) => sealed.subarray(0, -1)],
    ['all but the header cut off', (sealed: Buffer) => sealed.subarray(0, 24)],
  ])('damage on disk is noticed: %s', async (_, damage) => {
    const file = received(randomBytes(1000));
    await documents.store.put(STREAM, file);
    const path = pathOf(STREAM, file.sha256);
    await chmod(path, 0o600);
    await writeFile(path, damage(await readFile(path)));
    await expect(documents.store.get(STREAM, file.sha256)).rejects.toThrow(DamagedDocumentError);
  });

  test('a document moved to another name or operation does not open there', async () => {
    const [a, b] = [received('content a'), received('content b')];
    await documents.store.put(STREAM, a);
    await documents.store.put(STREAM, b);
    await writeFile(pathOf(STREAM, b.sha256), await readFile(pathOf(STREAM, a.sha256)));
    await expect(documents.store.get(STREAM, b.sha256)).rejects.toThrow(DamagedDocumentError);
  });

  test('after the key was forgotten there is nothing to read, and the same file can be stored anew', async () => {
    const file = received('content');
    await documents.store.put(STREAM, file);
    documents.keys.keys.clear();
    expect(await documents.store.get(STREAM, file.sha256)).toBeUndefined();
    await documents.keys.key(STREAM);
    expect(await documents.store.get(STREAM, file.sha256)).toBeUndefined();
    await documents.store.put(STREAM, file);
    expect(Buffer.from((await documents.store.get(STREAM, file.sha256)) ?? []).toString()).toBe('content');
  });

  test('nothing is stored for an operation whose key was deleted, and it gets no other one', async () => {
    documents.keys.keys.clear();
    await expect(documents.store.put(STREAM, received('content'))).rejects.toThrow(NoOperationKeyError);
    expect(documents.keys.keys.size).toBe(0);
    expect(await readdir(join(documents.directory, 'documents'))).toEqual(['.incoming']);
  });

  test('the last file of an operation takes its folder along, one before it does not', async () => {
    const [a, b] = [received('content a'), received('content b')];
    await documents.store.put(STREAM, a);
    await documents.store.put(STREAM, b);
    const folders = () => readdir(join(documents.directory, 'documents'));
    await documents.store.remove(STREAM, a.sha256);
    expect(await folders()).toEqual(['.incoming', sha256(STREAM)]);
    await documents.store.remove(STREAM, b.sha256);
    expect(await folders()).toEqual(['.incoming']);
    await documents.store.remove(STREAM, b.sha256);
    await documents.store.remove('loan-app.P-2', b.sha256);
  });

  test('a file that is on its way while the last one before it is removed gets there', async () => {
    const [before, meanwhile, after] = [received('before'), received('meanwhile'), received('after')];
    await documents.store.put(STREAM, before);
    const removing = async function* (): AsyncGenerator<Uint8Array> {
      yield Buffer.from('af');
      await documents.another().put(STREAM, meanwhile);
      for (const { sha256: digest } of [before, meanwhile]) await documents.another().remove(STREAM, digest);
      yield Buffer.from('ter');
    };
    await documents.store.put(STREAM, { ...after, read: removing });
    expect(Buffer.from((await documents.store.get(STREAM, after.sha256)) ?? []).toString()).toBe('after');
    // As two processes that store and forget the same at once: none of them fails.
    await Promise.all(
      [before, meanwhile, before, meanwhile].map(async (file) => {
        await documents.store.put(STREAM, file);
        await documents.store.remove(STREAM, file.sha256);
      }),
    );
    await documents.store.remove(STREAM, after.sha256);
    expect(await readdir(join(documents.directory, 'documents'))).toEqual(['.incoming']);
  });

  test('at start, what a crash left is removed and what another process writes is not', async () => {
    const incoming = join(documents.directory, 'documents', '.incoming');
    await writeFile(join(incoming, 'old'), 'half');
    await utimes(join(incoming, 'old'), new Date(0), new Date(0));
    await writeFile(join(incoming, 'young'), 'half');
    await documents.another().start();
    expect(await drafts()).toEqual(['young']);
  });
});
