import type { LogPosition } from '../../application/ports/event-store.ts';
import type { SealBook, SealHead, SealRecord } from '../../application/ports/audit.ts';
import type { Schema } from './schema.ts';
import { ConstraintError, GuardFailedError } from './sql-database.ts';
import type { SqlDatabase, Statement } from './sql-database.ts';

const HEAD = 1;

const recordOf = ({ sealed_at, through, kind, ...row }: Schema['log_seal']): SealRecord => ({
  ...row,
  kind: kind as SealRecord['kind'],
  through: through as LogPosition | 'start',
  sealedAt: sealed_at,
});

export class SqlSealBook implements SealBook {
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
    const { builder } = this.#database;
    if (head.number === 1)
      return {
        query: builder
          .insertInto('log_seal_head')
          .values({ id: HEAD, ...head })
          .compile(),
      };
    const update = builder
      .updateTable('log_seal_head')
      .set(head)
      .where('id', '=', HEAD)
      .where('number', '=', head.number - 1);
    return { query: update.compile(), expectChanges: 1 };
  }
}
