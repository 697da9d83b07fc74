import { DatabaseSync } from 'node:sqlite';
import { MoveFailedError } from '../../../application/ports/moving.ts';
import type { CheckpointToMove } from '../../../application/ports/moving.ts';
import { serviceMigrations } from '../migrations/service.ts';

/** A table whose rows go along, and the columns that name a row. */
export interface MovedTable {
  readonly name: string;
  readonly key: readonly string[];
}

/**
 * What a service keeps beside its streams. Leases and rate limits are of the moment; read models are built again; checkpoints are
 * places in a log, and in another one they are others.
 */
export const MOVED_TABLES: readonly MovedTable[] = [
  { name: 'client', key: ['client_id'] },
  { name: 'application_fund', key: ['application_id', 'fund_id'] },
  { name: 'wrapped_key', key: ['name'] },
  { name: 'borrower_operation', key: ['digest', 'stream'] },
  { name: 'log_seal', key: ['number'] },
  { name: 'log_seal_head', key: ['id'] },
  { name: 'consumer_offset', key: ['consumer_group', 'topic', 'partition'] },
  { name: 'consumer_mark', key: ['consumer_group', 'operation'] },
  { name: 'consumer_topic', key: ['topic'] },
  { name: 'clock_offset', key: ['id'] },
  { name: 'webhook_subscription', key: ['webhook_id'] },
  { name: 'webhook_event', key: ['event_id'] },
  { name: 'webhook_delivery', key: ['webhook_id', 'delivery_id'] },
  { name: 'webhook_attempt', key: ['delivery_id', 'attempt'] },
  { name: 'relay_quarantine', key: ['stream'] },
  { name: 'webhook_lane', key: ['lane', 'webhook_id'] },
];

/** A row in one of them shows that a service has used this database. */
export const TELLTALE_TABLES: readonly string[] = [
  ...MOVED_TABLES.map(({ name }) => name),
  'checkpoint',
  'read_model_generation',
];

export type Value = string | number | null;
export type Row = Readonly<Record<string, Value>>;

/** The service database that is left behind, opened for reading only. */
export class SourceFile {
  readonly #db: DatabaseSync;

  private constructor(db: DatabaseSync) {
    this.#db = db;
  }

  /** @throws MoveFailedError it is not there, or another version of the program wrote it */
  static open(path: string): SourceFile {
    let db: DatabaseSync | undefined;
    try {
      db = new DatabaseSync(path, { readOnly: true });
      const applied = new Set(
        db
          .prepare('select id from schema_migration')
          .all()
          .map(({ id }) => id),
      );
      if (applied.size !== serviceMigrations.length || !serviceMigrations.every(({ id }) => applied.has(id)))
        throw new Error(
          'another version wrote it: run this one on it once, `receivables client list` will do',
        );
      return new SourceFile(db);
    } catch (error) {
      db?.close();
      throw new MoveFailedError(`${path} cannot be moved: ${(error as Error).message}`, { cause: error });
    }
  }

  count({ name }: MovedTable): number {
    return Number(this.#db.prepare(`select count(*) as n from ${name}`).get()?.['n']);
  }

  /** In the order of the key. */
  page({ name, key }: MovedTable, after: readonly Value[] | undefined, limit: number): readonly Row[] {
    const columns = key.join(', ');
    const where = after === undefined ? '' : `where (${columns}) > (${key.map(() => '?').join(', ')})`;
    const text = `select * from ${name} ${where} order by ${columns} limit ${limit}`;
    return this.#db.prepare(text).all(...(after ?? [])) as unknown as readonly Row[];
  }

  checkpoints(): readonly CheckpointToMove[] {
    const rows: unknown = this.#db.prepare('select name, position from checkpoint order by name').all();
    return (rows as readonly CheckpointToMove[]).map(({ name, position }) => ({ name, position }));
  }

  close(): void {
    this.#db.close();
  }
}
