import { sql } from 'kysely';
import type { ExpressionBuilder, Kysely } from 'kysely';

import type { Schema } from '../../sql/schema.ts';
import type { SqlDatabase } from '../../sql/sql-database.ts';
import { REPEATABLE, headOfLane } from './lane-heads.ts';
import { UNLEASED } from './lanes.ts';

/** Milliseconds. */
export interface LongestWaits {
  /** Before the second attempt, the third and so on. */
  readonly gaps: readonly number[];
  readonly leaseMs: number;
}

const later = (now: string, ms: number): string => new Date(Date.parse(now) + ms).toISOString();

const withLanes = (eb: ExpressionBuilder<Schema, 'webhook_subscription'>) =>
  eb.exists(
    eb
      .selectFrom('webhook_lane')
      .select('webhook_lane.lane')
      .whereRef('webhook_lane.webhook_id', '=', 'webhook_subscription.webhook_id'),
  );

/** Whatever was sent since then hides it, so this is only for where nobody saw the clock go back. */
const behindItsOwnPast = (eb: ExpressionBuilder<Schema, 'webhook_subscription'>, now: string) =>
  eb.or([
    eb('last_success_at', '>', now),
    eb('last_failure_at', '>', now),
    eb(
      eb
        .selectFrom('webhook_delivery as newest')
        .select('newest.created_at')
        .whereRef('newest.webhook_id', '=', 'webhook_subscription.webhook_id')
        .orderBy('newest.delivery_id', 'desc')
        .limit(sql.lit(1)),
      '>',
      now,
    ),
  ]);

const deliveries = (builder: Kysely<Schema>, webhookId: string, now: string, gaps: readonly number[]) =>
  [0, ...gaps].map((gap, used, all) =>
    builder
      .updateTable('webhook_delivery')
      .set({ next_attempt_at: later(now, gap) })
      .where('webhook_id', '=', webhookId)
      .where('waiting_lane', 'is not', null)
      .where('scheduled_attempts', used === all.length - 1 && used > 0 ? '>=' : '=', used)
      .where('next_attempt_at', '>', later(now, gap)),
  );

const lanes = (builder: Kysely<Schema>, webhookId: string, now: string, leaseMs: number) => [
  builder
    .updateTable('webhook_lane')
    .set((eb) => {
      const due = headOfLane(eb).select('head.next_attempt_at');
      return { ready_at: sql<string>`case when ${due} > ${now} then ${due} else ${now} end` };
    })
    .where('webhook_id', '=', webhookId)
    .where('token', '=', UNLEASED)
    .where('ready_at', '>', now),
  builder
    .updateTable('webhook_lane')
    .set({ ready_at: later(now, leaseMs) })
    .where('webhook_id', '=', webhookId)
    .where('token', '<>', UNLEASED)
    .where('ready_at', '>', later(now, leaseMs)),
];

/** Two short transactions a subscription, since others lock lanes before deliveries. Repeating it changes nothing. */
export const planAnew = async (
  database: SqlDatabase,
  { gaps, leaseMs }: LongestWaits,
  now: string,
  seen: boolean,
): Promise<number> => {
  const { builder } = database;
  const behind = await database.read(
    builder
      .selectFrom('webhook_subscription')
      .select('webhook_id')
      .where((eb) => (seen ? withLanes(eb) : behindItsOwnPast(eb, now))),
  );
  let moved = 0;
  for (const { webhook_id: webhookId } of behind) {
    const steps = [deliveries(builder, webhookId, now, gaps), lanes(builder, webhookId, now, leaseMs)];
    for (const queries of steps) {
      const statements = queries.map((query) => ({ query: query.compile() }));
      const results = await database.transaction(statements, REPEATABLE);
      moved += results.reduce((sum, { changes }) => sum + changes, 0);
    }
  }
  return moved;
};
