import { DatabaseSync } from 'node:sqlite';
import type { AuditNotes, ClaimNote, StreamHead, StreamNote } from '../../application/audit/audit-notes.ts';

/** Streams that were met lately stay in memory, so that one that goes on costs no look into the file. */
const MOST_IN_MEMORY = 100_000;
const CACHE_KIB = 65_536;
const FORMAT = 'receivables-audit-notes/2';

const TABLES = `
  create table if not exists stream (
    id integer primary key, name text not null unique, in_log integer not null, read integer not null, hash text not null,
    payments integer not null, in_feed integer not null
  );
  create table if not exists claim (key blob not null, place blob not null);
  create table if not exists used (key blob not null, place blob not null, stream integer not null);
  create table if not exists head (stream text primary key, revision integer not null, hash text not null) without rowid;
  create table if not exists difference (text text not null);
  create index if not exists difference_text on difference (text);
  create table if not exists progress (format text not null, text text not null)`;

interface Row {
  readonly id: number;
  readonly in_log: number;
  readonly read: number;
  readonly hash: string;
  readonly payments: number;
  readonly in_feed: number;
}

interface Known {
  readonly id: number;
  readonly note: StreamNote;
  readonly isSaved: boolean;
}

const noteOf = ({ in_log: inLog, in_feed: inFeed, read, hash, payments }: Row): StreamNote => ({
  ...{ inLog, read, hash, payments, inFeed },
});

/** The file belongs to something else, or to another version of the program. */
export class ForeignNotesError extends Error {
  override readonly name = 'ForeignNotesError';
}

const OWN: ReadonlySet<string> = new Set(['stream', 'claim', 'used', 'head', 'difference', 'progress']);

/** The file goes when the audit is done, so it must not be another's. */
const refuseForeign = (database: DatabaseSync): void => {
  const names = database
    .prepare(`select name from sqlite_master where type = 'table' and name not like 'sqlite!_%' escape '!'`)
    .all();
  const other = names.map(({ name }) => String(name)).find((name) => !OWN.has(name));
  if (other !== undefined)
    throw new Error(`it is a database with a table ${other}, which is none of an audit`);
};

const open = (path: string): DatabaseSync => {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path);
    refuseForeign(database);
    database.exec(
      `pragma cache_size = -${CACHE_KIB}; pragma locking_mode = exclusive; pragma temp_store = file`,
    );
    // A private file that vanishes with the process needs no journal; one that is kept survives the end of the process at any moment.
    database.exec(path === '' ? 'pragma journal_mode = off' : 'pragma journal_mode = wal');
    database.exec(`pragma synchronous = ${path === '' ? 'off' : 'normal'}; begin; ${TABLES}; commit; begin`);
    // Notes of an earlier version have other columns.
    database.prepare('select in_feed from stream');
    return database;
  } catch (error) {
    database?.close();
    throw new ForeignNotesError(`${path} cannot hold the notes of an audit: ${(error as Error).message}`, {
      cause: error,
    });
  }
};

const prepareAll = (database: DatabaseSync) => ({
  find: database.prepare('select id, in_log, read, hash, payments, in_feed from stream where name = ?'),
  write: database.prepare(
    `insert into stream values (?, ?, ?, ?, ?, ?, ?) on conflict (id)
     do update set in_log = excluded.in_log, read = excluded.read, hash = excluded.hash,
       payments = excluded.payments, in_feed = excluded.in_feed`,
  ),
  highest: database.prepare('select coalesce(max(id), 0) as id from stream'),
  all: database.prepare('select id, name, in_log, read, hash, payments, in_feed from stream order by id'),
  claim: database.prepare('insert into claim values (?, ?)'),
  use: database.prepare('insert into used values (?, ?, ?)'),
  addHead: database.prepare('insert or replace into head values (?, ?, ?)'),
  head: database.prepare('select stream, revision, hash from head where stream = ?'),
  heads: database.prepare('select stream, revision, hash from head order by stream'),
  differ: database.prepare(
    'insert into difference select ?1 where not exists (select 1 from difference where text = ?1)',
  ),
  differences: database.prepare('select text from difference order by rowid'),
  saved: database.prepare('select format, text from progress'),
});

/** An audit's notes in a SQLite file: one that is kept under its name, or a temporary one without a name. */
export class SqliteAuditNotes implements AuditNotes {
  readonly isKept: boolean;
  readonly #database: DatabaseSync;
  readonly #sql: ReturnType<typeof prepareAll>;
  #recent = new Map<string, Known>();
  #ids: number;

  /**
   * @param path where they are kept; without one they go with the process
   * @throws ForeignNotesError
   */
  constructor(path?: string) {
    this.isKept = path !== undefined;
    this.#database = open(path ?? '');
    this.#sql = prepareAll(this.#database);
    this.#ids = Number(this.#sql.highest.get()?.['id']);
  }

  stream(name: string): StreamNote | undefined {
    return this.#find(name)?.note;
  }

  noteStream(name: string, note: StreamNote): void {
    const id = this.#find(name)?.id ?? ++this.#ids;
    this.#remember(name, { id, note, isSaved: false });
  }

  *streams(): Generator<readonly [name: string, note: StreamNote]> {
    this.#writeStreams();
    for (const row of this.#sql.all.iterate()) {
      const found = row as unknown as Row & { readonly name: string };
      yield [found.name, noteOf(found)];
    }
  }

  noteClaims(claims: readonly ClaimNote[]): void {
    for (const { key, place } of claims) this.#sql.claim.run(key, place);
  }

  noteUsed(stream: string, used: readonly ClaimNote[]): void {
    if (used.length === 0) return;
    const known = this.#find(stream);
    if (!known) throw new Error(`${stream} was not met`);
    for (const { key, place } of used) this.#sql.use.run(key, place, known.id);
  }

  /** Claims and uses are sorted by key first, so that neither is looked into at random. */
  *unpaired(): Generator<string> {
    this.#writeStreams();
    this.#database.exec(`
      create index if not exists claim_key on claim (key, place);
      create index if not exists used_key on used (key, place, stream);
      drop table if exists temp.unpaired;
      create temp table unpaired (stream integer primary key);
      insert or ignore into unpaired
        select u.stream from used u
        where u.place is not (
          select c.place from claim c indexed by claim_key where c.key = u.key order by c.rowid desc limit 1)
        order by u.key`);
    const names = this.#database.prepare(
      'select s.name from unpaired u join stream s on s.id = u.stream order by s.id',
    );
    for (const { name } of names.iterate()) yield String(name);
  }

  forgetHeads(): void {
    this.#database.exec('delete from head');
  }

  noteHead({ stream, revision, hash }: StreamHead): void {
    this.#sql.addHead.run(stream, revision, hash);
  }

  head(stream: string): StreamHead | undefined {
    return this.#sql.head.get(stream) as unknown as StreamHead | undefined;
  }

  heads(): Iterable<StreamHead> {
    return this.#sql.heads.iterate() as unknown as Iterable<StreamHead>;
  }

  noteDifference(text: string): boolean {
    return this.#sql.differ.run(text).changes > 0;
  }

  *differences(): Generator<string> {
    for (const { text } of this.#sql.differences.iterate()) yield String(text);
  }

  save(progress: string): void {
    this.#writeStreams();
    this.#database.exec('delete from progress');
    this.#database.prepare('insert into progress values (?, ?)').run(FORMAT, progress);
    this.#database.exec('commit; begin');
  }

  saved(): string | undefined {
    const row = this.#sql.saved.get();
    if (row === undefined) return undefined;
    if (row['format'] !== FORMAT)
      throw new ForeignNotesError('another version of the program wrote these notes');
    return String(row['text']);
  }

  /** What was noted after the last `save` is gone. */
  close(): void {
    if (this.#database.isOpen) this.#database.close();
  }

  #find(name: string): Known | undefined {
    const recent = this.#recent.get(name);
    if (recent) return recent;
    const row = this.#sql.find.get(name) as unknown as Row | undefined;
    if (!row) return undefined;
    const known = { id: row.id, note: noteOf(row), isSaved: true };
    this.#remember(name, known);
    return known;
  }

  #remember(name: string, known: Known): void {
    this.#recent.set(name, known);
    if (this.#recent.size <= MOST_IN_MEMORY) return;
    this.#writeStreams();
    this.#recent = new Map([[name, { ...known, isSaved: true }]]);
  }

  #writeStreams(): void {
    for (const [name, known] of this.#recent) {
      if (known.isSaved) continue;
      const { id, note } = known;
      this.#sql.write.run(id, name, note.inLog, note.read, note.hash, note.payments, note.inFeed);
      this.#recent.set(name, { ...known, isSaved: true });
    }
  }
}
