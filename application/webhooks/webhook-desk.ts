import { sql } from 'kysely';
import type { WebhookSubscription } from './subscriptions.ts';
import { MOST_LOOKED_AT, ofFunds } from './delivery-log.ts';
import type { DeliveryState } from './delivery-states.ts';
import { foreignCursor } from '../support/failures.ts';
import type { SqlDatabase } from '../sql/sql-database.ts';
import { VISIBLE, subscriptionOf } from './subscriptions.ts';

export const ENDPOINT_CHOICES = ['all', 'failing', 'paused'] as const;

/** failing: its present run of attempts fails, or an attempt did not long ago. */
export type EndpointChoice = (typeof ENDPOINT_CHOICES)[number];

interface EndpointQuery {
  readonly choice: EndpointChoice;
  /** From when on a failure counts, ISO 8601 UTC, also where an attempt has succeeded since. */
  readonly failedFrom: string;
  readonly limit: number;
  readonly cursor?: string;
  /** None but these; at least one. */
  readonly only?: readonly string[];
}

interface EndpointPage {
  readonly endpoints: readonly WebhookSubscription[];
  readonly nextCursor: string | null;
}

interface Outcome {
  readonly at: string;
  readonly durationMs: number;
  readonly responseStatus: number | null;
  readonly succeeded: boolean;
}

export interface EndpointRecord {
  /** Attempts of its newest deliveries, newest first. */
  readonly outcomes: readonly Outcome[];
  /** Deliveries that wait for an attempt, and those that were given up; neither is counted beyond `COUNTED_AT_MOST`. */
  readonly waiting: number;
  readonly failed: number;
}

/** Counting more would cost more than it says. */
export const COUNTED_AT_MOST = 1_000;

/** 0 for those that fail, which come first; then the creation and the id. */
const CURSOR = /^([01])~(\d{4}-\d\d-\d\dT[\d:.]+Z)~([\w-]{1,64})$/;

const placeIn = (
  cursor: string,
): { readonly rank: number; readonly createdAt: string; readonly id: string } => {
  const [, rank, createdAt, id] = CURSOR.exec(cursor) ?? [];
  if (rank === undefined || createdAt === undefined || id === undefined) throw foreignCursor();
  return { rank: Number(rank), createdAt, id };
};

/** Attempts of one delivery are few, but for those asked for by hand. */
const MOST_ATTEMPTS_EACH = 10;

type OutcomeRow = Omit<Outcome, 'succeeded'> & { readonly error: string | null };

interface CountRow {
  readonly waiting: number;
  readonly failed: number;
}

export class WebhookDesk {
  readonly #database: SqlDatabase;

  constructor(database: SqlDatabase) {
    this.#database = database;
  }

  /** A page of endpoints: first those whose present attempts fail, then the oldest. @throws DomainError `invalid_query_parameter` for a cursor that it did not make */
  async endpoints({ choice, failedFrom, limit, cursor, only }: EndpointQuery): Promise<EndpointPage> {
    const after = cursor === undefined ? undefined : placeIn(cursor);
    const failing = sql<boolean>`(failing_since is not null or last_failure_at >= ${failedFrom})`;
    const rank = sql<number>`case when failing_since is null then 1 else 0 end`;
    const query = this.#database.builder
      .selectFrom('webhook_subscription')
      .select(VISIBLE)
      .where('status', '<>', 'removed')
      .$if(only !== undefined, (q) => q.where('webhook_id', 'in', only!))
      .$if(choice === 'failing', (q) => q.where(failing))
      .$if(choice === 'paused', (q) => q.where('status', '=', 'paused'))
      .$if(after !== undefined, (q) =>
        q.where((eb) =>
          eb.or([
            eb(rank, '>', after!.rank),
            eb.and([eb(rank, '=', after!.rank), eb('created_at', '>', after!.createdAt)]),
            eb.and([
              eb(rank, '=', after!.rank),
              eb('created_at', '=', after!.createdAt),
              eb('webhook_id', '>', after!.id),
            ]),
          ]),
        ),
      )
      .orderBy(rank)
      .orderBy('created_at')
      .orderBy('webhook_id')
      .limit(limit + 1);
    const found = (await this.#database.read(query)).map(subscriptionOf);
    const endpoints = found.slice(0, limit);
    const last = endpoints.at(-1);
    const more = last !== undefined && found.length > limit;
    return {
      endpoints,
      nextCursor: more ? `${last.failingSince === null ? 1 : 0}~${last.createdAt}~${last.webhookId}` : null,
    };
  }

  /** In the order of the ids; of the newest `deliveries` of each. @param fundIds of events of these funds alone; default: of all */
  async records(
    webhookIds: readonly string[],
    deliveries: number,
    fundIds?: readonly string[],
  ): Promise<readonly EndpointRecord[]> {
    const queries = webhookIds.flatMap((id) => [
      this.#outcomes(id, deliveries, fundIds),
      this.#counts(id, fundIds),
    ]);
    if (queries.length === 0) return [];
    const rows = await this.#database.snapshot<(OutcomeRow | CountRow)[]>(queries);
    return webhookIds.map((_, i) => {
      const outcomes = rows[2 * i] as readonly OutcomeRow[];
      const [counts] = rows[2 * i + 1] as readonly CountRow[];
      return {
        outcomes: outcomes.map(({ error, ...outcome }) => ({ ...outcome, succeeded: error === null })),
        waiting: counts!.waiting,
        failed: counts!.failed,
      };
    });
  }

  /** The newest deliveries are a range of the key. */
  #outcomes(webhookId: string, deliveries: number, fundIds: readonly string[] | undefined) {
    const { builder } = this.#database;
    const some = builder
      .selectFrom('webhook_delivery')
      .select(['webhook_id', 'delivery_id'])
      .where('webhook_id', '=', webhookId)
      .orderBy('delivery_id', 'desc');
    const newest =
      fundIds === undefined
        ? some.limit(deliveries)
        : (builder.selectFrom(some.limit(MOST_LOOKED_AT).as('webhook_delivery')) as unknown as typeof some)
            .select('delivery_id')
            .where(ofFunds(fundIds))
            .orderBy('delivery_id', 'desc')
            .limit(deliveries);
    return builder
      .selectFrom('webhook_attempt')
      .select(['started_at as at', 'duration_ms as durationMs', 'response_status as responseStatus', 'error'])
      .where('delivery_id', 'in', builder.selectFrom(newest.as('page')).select('page.delivery_id'))
      .orderBy('delivery_id', 'desc')
      .orderBy('attempt', 'desc')
      .limit(deliveries * MOST_ATTEMPTS_EACH);
  }

  #counts(webhookId: string, fundIds: readonly string[] | undefined) {
    const { builder } = this.#database;
    const counted = (...states: readonly Exclude<DeliveryState, 'delivered'>[]) => {
      const some = builder
        .selectFrom('webhook_delivery')
        .select('delivery_id')
        .where('webhook_id', '=', webhookId)
        .$if(fundIds !== undefined, (q) => q.where(ofFunds(fundIds!)))
        .where(
          'status',
          'in',
          states.map((state) => sql.lit(state)),
        )
        // Written out, as the partial index has it.
        .where('status', '<>', sql.lit<DeliveryState>('delivered'))
        .limit(COUNTED_AT_MOST);
      return builder.selectFrom(some.as('page')).select((eb) => eb.fn.countAll<number>().as('count'));
    };
    return builder.selectNoFrom([
      counted('pending', 'retrying').as('waiting'),
      counted('failed').as('failed'),
    ]);
  }
}

/** The value below which this share of them lies; nearest rank. */
const quantile = (sorted: readonly number[], share: number): number | null =>
  sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? null;

/**
 * How well an endpoint did lately; null where no attempt says so. Latency is that of answers, whatever they said: what never answered
 * took as long as it was waited for.
 */
export const healthOf = (outcomes: readonly Outcome[]) => {
  const answered = outcomes
    .filter(({ responseStatus }) => responseStatus !== null)
    .map(({ durationMs }) => durationMs)
    .toSorted((one, other) => one - other);
  const succeeded = outcomes.filter((one) => one.succeeded).length;
  return {
    attempts: outcomes.length,
    /** Share of the attempts that succeeded, 0 to 1. */
    successRate: outcomes.length === 0 ? null : succeeded / outcomes.length,
    medianMs: quantile(answered, 0.5),
    p95Ms: quantile(answered, 0.95),
  };
};

/** failing: nothing got through in the last hour, and something was tried. unsteady: in that hour some attempts did and some did not. */
type EndpointState = 'paused' | 'failing' | 'unsteady' | 'active';

const HOUR_MS = 3_600_000;

export const countedFrom = (now: string): string => new Date(Date.parse(now) - HOUR_MS).toISOString();

/** By its last hour: one answer that succeeded, or failed, between others says little. */
export const endpointState = (
  {
    status,
    failingSince,
    lastFailureAt,
    lastSuccessAt,
  }: Pick<WebhookSubscription, 'status' | 'failingSince' | 'lastFailureAt' | 'lastSuccessAt'>,
  now: string,
): EndpointState => {
  if (status === 'paused') return 'paused';
  const from = countedFrom(now);
  const failed = failingSince !== null || (lastFailureAt !== null && lastFailureAt >= from);
  if (!failed) return 'active';
  return lastSuccessAt !== null && lastSuccessAt >= from ? 'unsteady' : 'failing';
};
