import { DatabaseSync } from 'node:sqlite';
import { MoveFailedError } from '../../application/maintenance/moving/log-to-move.ts';
import type { PlacesToMove, SubscriptionPlace } from '../../application/maintenance/moving/log-to-move.ts';
import type { MovedRows, MovedTable, Row, Value } from '../../application/maintenance/moving/moved-tables.ts';
import { serviceMigrations } from '../../application/sql/migrations/service.ts';

/** The service database that is left behind, opened for reading only. */
export class SourceFile implements MovedRows {
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

  places(): PlacesToMove {
    const checkpoints: unknown = this.#db
      .prepare('select name, position from checkpoint order by name')
      .all()
      .map((row) => ({ ...row }));
    const of = (column: SubscriptionPlace['column']) =>
      `select webhook_id as "webhookId", '${column}' as "column", ${column} as place from webhook_subscription where ${column} is not null`;
    const subscriptions: unknown = this.#db
      .prepare(`${of('begins_at')} union all ${of('filter_from')} order by 1, 2`)
      .all();
    return { checkpoints, subscriptions } as PlacesToMove;
  }

  close(): void {
    this.#db.close();
  }
}
