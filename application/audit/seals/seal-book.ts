import type { LogPosition } from '../../ports/event-store.ts';
import type { Schema } from '../../sql/schema.ts';
import { compareAndSet } from '../../sql/compare-and-set.ts';
import { ConstraintError, GuardFailedError } from '../../sql/sql-database.ts';
import type { SqlDatabase, Statement } from '../../sql/sql-database.ts';

/** `found` what was there when the sealer first came past, `live` what came later. Stored, so never changed. */
export interface SealRecord {
  /** 1 for the first; no number is left out. */
  readonly number: number;
  readonly kind: 'begin' | 'found' | 'live';
  readonly log: string;
  /** Of the last event that it covers; `start` for `begin`. */
  readonly through: LogPosition | 'start';
  readonly events: number;
  /** Since the last `begin`, these included. */
  readonly total: number;
  /** Over the events that it covers; hexadecimal SHA-256. */
  readonly digest: string;
  /** ISO 8601 UTC. */
  readonly sealedAt: string;
  readonly mac: string;
}

/** Where the book ends, so that its last records cannot be taken away unnoticed. */
export interface SealHead {
  readonly number: number;
  readonly mac: string;
  /** Keyed digest of both. */
  readonly proof: string;
}

const HEAD = 1;

const recordOf = ({ sealed_at, through, kind, ...row }: Schema['log_seal']): SealRecord => ({
  ...row,
  kind: kind as SealRecord['kind'],
  through: through as LogPosition | 'start',
  sealedAt: sealed_at,
});

/** The seal book. Durable when a call resolves. */
export class SqlSealBook {
  readonly #database: SqlDatabase;

  constructor(database: SqlDatabase) {
    this.#database = database;
  }

  async head(): Promise<SealHead | undefined> {
    const query = this.#database.builder
      .selectFrom('log_seal_head')
      .select(['number', 'mac', 'proof'])
      .where('id', '=', HEAD);
    return (await this.#database.read(query))[0];
  }

  async page(after: number, limit: number): Promise<readonly SealRecord[]> {
    const query = this.#database.builder
      .selectFrom('log_seal')
      .selectAll()
      .where('number', '>', after)
      .orderBy('number')
      .limit(limit);
    return (await this.#database.read(query)).map(recordOf);
  }

  async lastBegin(): Promise<number> {
    const query = this.#database.builder
      .selectFrom('log_seal')
      .select('number')
      .where('kind', '=', 'begin')
      .orderBy('number', 'desc')
      .limit(1);
    return (await this.#database.read(query))[0]?.number ?? 0;
  }

  /** Adds a record and moves the head to it; false, and nothing is stored, unless the head is still the one before. */
  async add({ sealedAt, ...record }: SealRecord, head: SealHead): Promise<boolean> {
    const insert = this.#database.builder.insertInto('log_seal').values({ ...record, sealed_at: sealedAt });
    try {
      await this.#database.transaction([this.#moveHead(head), { query: insert.compile() }]);
      return true;
    } catch (error) {
      if (error instanceof GuardFailedError || error instanceof ConstraintError) return false;
      throw error;
    }
  }

  #moveHead(head: SealHead): Statement {
    const query = compareAndSet(this.#database.builder, 'log_seal_head', {
      key: { id: HEAD },
      from: head.number === 1 ? undefined : { number: head.number - 1 },
      to: head,
    });
    return { query: query.compile(), expectChanges: 1 };
  }
}
