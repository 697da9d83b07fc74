import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import type { ReadRequest } from './read-wire.ts';
import type { Cell, Cells } from './thread-protocol.ts';
import { messageOf, numberCell, textCell } from './thread-protocol.ts';

/** A page ends early beyond this many characters, so that large events do not add up to a huge message. */
const PAGE_CHARACTERS = 4_000_000;
/** How much of the log one filtered page may look through. */
const FILTERED_WINDOW = 4_000;

const COLUMNS = 'e.id, e.type, e.data, e.metadata, s.name, e.revision, e.position';

const prepareAll = (db: DatabaseSync) => ({
  stream: db.prepare(
    `SELECT id, (SELECT max(revision) FROM events WHERE stream_id = streams.id) FROM streams WHERE name = ?`,
  ),
  events: db.prepare(
    `SELECT ${COLUMNS} FROM events e CROSS JOIN streams s ON s.id = e.stream_id
     WHERE e.stream_id = ? AND e.revision >= ? AND e.revision <= ? ORDER BY e.revision`,
  ),
  claimHolder: db.prepare(
    `SELECT name FROM claims JOIN streams ON streams.id = claims.stream_id
     WHERE application_id = ? AND endpoint = ? AND key = ?`,
  ),
  end: db.prepare('SELECT max(position) FROM events'),
  // CROSS JOIN keeps the log the outer loop: the planner must not walk the streams first.
  page: db.prepare(
    `SELECT ${COLUMNS} FROM events e CROSS JOIN streams s ON s.id = e.stream_id
     WHERE e.position > ?1 AND e.position <= ?2 AND substr(s.name, 1, length(?3)) = ?3 ORDER BY e.position`,
  ),
});

type Statements = Readonly<Record<keyof ReturnType<typeof prepareAll>, StatementSync>>;

/** Answers reads from committed data. It has a thread of its own, so that no read waits for a flush. */
export class EventLogReader {
  readonly #sql: Statements;

  constructor(db: DatabaseSync) {
    const statements = prepareAll(db);
    for (const statement of Object.values(statements)) statement.setReturnArrays(true);
    this.#sql = statements;
  }

  answer(batch: readonly Cells[]): readonly Cells[] {
    return batch.map((request) => {
      try {
        return this.#read(request);
      } catch (error) {
        return ['unavailable', messageOf(error)];
      }
    });
  }

  #read(request: Cells): Cells {
    const kind = request[0] as ReadRequest;
    switch (kind) {
      case 'head':
        return ['ok', this.#streamOf(textCell(request, 1)).revision];
      case 'stream':
        return this.#readStream(textCell(request, 1), numberCell(request, 2));
      case 'claim':
        return ['ok', this.#first(this.#sql.claimHolder, ...request.slice(1))[0] ?? null];
      case 'end':
        return ['ok', this.#end()];
      case 'page':
        return this.#readPage(numberCell(request, 1), numberCell(request, 2), textCell(request, 3));
    }
  }

  #readStream(name: string, from: number): Cells {
    const { id, revision } = this.#streamOf(name);
    const cells: Cell[] = ['ok', revision];
    if (revision >= from)
      for (const row of this.#rows(this.#sql.events, id, from, revision)) cells.push(...row);
    return cells;
  }

  #readPage(after: number, limit: number, prefix: string): Cells {
    // Asked before the events: whatever is committed in between belongs to a later page.
    const end = this.#end();
    const upper = Math.min(end, after + (prefix === '' ? limit : Math.max(limit, FILTERED_WINDOW)));
    const cells: Cell[] = ['ok', Math.max(after, upper), end];
    let count = 0;
    let characters = 0;
    for (const row of this.#rows(this.#sql.page, after, upper, prefix)) {
      cells.push(...row);
      count += 1;
      characters += textCell(row, 2).length + textCell(row, 3).length;
      if (count < limit && characters < PAGE_CHARACTERS) continue;
      cells[1] = numberCell(row, 6);
      break;
    }
    return cells;
  }

  #streamOf(name: string): { readonly id: number; readonly revision: number } {
    const [id, revision] = this.#first(this.#sql.stream, name);
    return { id: Number(id ?? -1), revision: Number(revision ?? -1) };
  }

  #end(): number {
    return Number(this.#first(this.#sql.end)[0] ?? 0);
  }

  #first(statement: StatementSync, ...parameters: SQLInputValue[]): Cells {
    return (statement.get(...parameters) as unknown as Cells | undefined) ?? [];
  }

  #rows(statement: StatementSync, ...parameters: SQLInputValue[]): Iterable<Cells> {
    return statement.iterate(...parameters) as unknown as Iterable<Cells>;
  }
}
