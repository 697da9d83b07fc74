import type { SqlDatabase } from '../../sql/sql-database.ts';

/** What stopped or cancelled redeliveries have left to send. Answers how much was removed. */
const leftOver = async (database: SqlDatabase, limit: number): Promise<number> => {
  const { builder } = database;
  const [ended] = await database.read(
    builder
      .selectFrom('webhook_redelivery')
      .select('redelivery_id')
      .where('status', 'in', ['stopped', 'cancelled'])
      .where('first_lane', 'is not', null)
      .limit(1),
  );
  if (!ended) return 0;
  const { redelivery_id: id } = ended;
  const items = await database.read(
    builder
      .selectFrom('webhook_redelivery_item')
      .select(['lane', 'sequence'])
      .where('redelivery_id', '=', id)
      .orderBy('lane')
      .orderBy('sequence')
      .orderBy('delivery_id')
      .limit(limit),
  );
  const last = items.at(-1);
  const query = last
    ? builder
        .deleteFrom('webhook_redelivery_item')
        .where('redelivery_id', '=', id)
        .where('lane', '<=', last.lane)
        .where((eb) => eb.or([eb('lane', '<', last.lane), eb('sequence', '<=', last.sequence)]))
    : builder.updateTable('webhook_redelivery').set({ first_lane: null }).where('redelivery_id', '=', id);
  await database.transaction([{ query: query.compile() }]);
  return Math.max(1, items.length);
};

const old = async (database: SqlDatabase, before: string, limit: number): Promise<number> => {
  const { builder } = database;
  const ended = await database.read(
    builder
      .selectFrom('webhook_redelivery')
      .select('redelivery_id')
      // Says again what the index is restricted to, so that it can be used.
      .where('completed_at', 'is not', null)
      .where('completed_at', '<', before)
      .where('first_lane', 'is', null)
      .orderBy('completed_at')
      .limit(limit),
  );
  if (ended.length === 0) return 0;
  const ids = ended.map(({ redelivery_id: id }) => id);
  const query = builder.deleteFrom('webhook_redelivery').where('redelivery_id', 'in', ids);
  await database.transaction([{ query: query.compile() }]);
  return ids.length;
};

/** One small step of the removal of what redeliveries of a span of time leave behind; 0 when nothing is left to do. */
export const removeEndedRanges = async (
  database: SqlDatabase,
  { before, limit }: { readonly before: string; readonly limit: number },
): Promise<number> => (await leftOver(database, limit)) || old(database, before, limit);
