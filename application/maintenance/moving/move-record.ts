import { rawQuery } from '../../sql/engine.ts';
import { sql } from 'kysely';
import { MoveFailedError, TELLTALE_TABLES } from './what-moves.ts';
import type { PlacesToMove } from './what-moves.ts';
import type { SqlDatabase } from '../../sql/sql-database.ts';

interface MoveRecord {
  readonly id: string;
  readonly begunAt: string;
  readonly finishedAt: string | null;
}

const MOVE = 'move';

export const readMove = async (
  database: Pick<SqlDatabase, 'builder' | 'read'>,
): Promise<MoveRecord | undefined> => {
  const query = database.builder.selectFrom('move_progress').select('value').where('name', '=', MOVE);
  const [row] = await database.read(query);
  return row && (JSON.parse(row.value) as MoveRecord);
};

/** @throws MoveFailedError a service has used this database */
export const ensureUnused = async (database: SqlDatabase): Promise<void> => {
  for (const table of TELLTALE_TABLES) {
    const text = sql<{ one: number }>`select 1 as one from ${sql.table(table)} limit 1`;
    const rows = await database.read(rawQuery(database, text));
    if (rows.length > 0)
      throw new MoveFailedError(`the database holds other data (in ${table}): move into an empty one`);
  }
};

/** @throws ConstraintError another move has begun here */
export const beginMove = async (database: SqlDatabase, id: string, now: string): Promise<void> => {
  const record: MoveRecord = { id, begunAt: now, finishedAt: null };
  const query = database.builder
    .insertInto('move_progress')
    .values({ name: MOVE, value: JSON.stringify(record) });
  await database.transaction([{ query: query.compile() }]);
};

/** From now on a service may start here, its followers and subscriptions at these positions. */
export const finishMove = async (
  database: SqlDatabase,
  { checkpoints, subscriptions }: PlacesToMove,
  now: string,
): Promise<void> => {
  const { builder } = database;
  const finished = JSON.stringify({ ...(await readMove(database)), finishedAt: now });
  const places = checkpoints.map(({ name, position }) =>
    builder
      .insertInto('checkpoint')
      .values({ name, position, updated_at: now })
      .onConflict((conflict) => conflict.column('name').doUpdateSet({ position, updated_at: now })),
  );
  const begun = subscriptions.map(({ webhookId, column, place }) =>
    builder
      .updateTable('webhook_subscription')
      .set({ [column]: place })
      .where('webhook_id', '=', webhookId),
  );
  const record = builder.updateTable('move_progress').set({ value: finished }).where('name', '=', MOVE);
  await database.transaction([...places, ...begun, record].map((query) => ({ query: query.compile() })));
};
