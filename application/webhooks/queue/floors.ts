import { sql } from 'kysely';
import type { SqlDatabase, SqlDialect } from '../../sql/sql-database.ts';
import { ACTIVE, UNLEASED } from './lanes.ts';
import type { Kysely } from 'kysely';
import type { Schema } from '../../sql/schema.ts';
import { firstIdAt } from '../../support/time-ordered-id.ts';
import type { DeliveryState } from '../delivery-states.ts';

/** What is written now reaches the table within this time, nearly always. */
const USUAL_DELAY_MS = 2_000;
/** Longer than a transaction can be under way, its waits for a connection and for locks included, and than clocks of two processes are apart. */
const LONGEST_DELAY_MS = 120_000;
const DEEP_EVERY_MS = 10_000;
const WHOLE_EVERY_MS = 600_000;

const FROM_THE_START = '';

/** Lanes that wait for their first attempt, for a retry, or for the end of their lease. */
type Each<Value> = readonly [first: Value, retry: Value, leased: Value];
type Kind = 0 | 1 | 2;
const KINDS: Each<Kind> = [0, 1, 2];

type Reach = 'near' | 'deep' | 'whole';
interface Floor {
  /** No lane is due before it, as far as the last search saw. */
  readonly near: string;
  /** No lane is due before it even among those that were under way for long. */
  readonly deep: string;
}
const UNKNOWN: Floor = { near: FROM_THE_START, deep: FROM_THE_START };

interface Search {
  readonly reach: Reach;
  readonly from: string;
  /** When the first lane is due that it found; null when there is none. */
  readonly first: string | null;
  readonly now: string;
}

interface Look {
  readonly reach: Reach;
  readonly now: string;
  /** Where it begins, by kind and subscription; what is not named is searched from the start. */
  readonly floors: Each<Readonly<Record<string, string>>>;
}

const earlier = (one: string, other: string): string => (one < other ? one : other);
const later = (one: string, other: string): string => (one > other ? one : other);
const before = (now: string, ms: number): string => new Date(Date.parse(now) - ms).toISOString();

/**
 * The time from which a search for due lanes begins. In PostgreSQL a row that was changed or removed stays in its index until no open
 * transaction can see it any more; while one is held open, a search from the start reads every lane that was finished since. A lane
 * is never made due before the time at which it is written, so a search that found the first due lane says where the next may begin.
 * What was under way for longer than usual is found by the looks that go further back; no delivery waits for those.
 */
export class LaneFloors {
  readonly #kept: boolean;
  readonly #kinds: Each<Map<string, Floor>> = [new Map(), new Map(), new Map()];
  #deepAt = -Infinity;
  #wholeAt = -Infinity;
  #lastNow = '';

  constructor(dialect: SqlDialect) {
    this.#kept = dialect === 'postgres';
  }

  floorsOf(webhookId: string, now: string): Each<string> {
    this.#notice(now);
    const of = (kind: Kind): string => (this.#kinds[kind].get(webhookId) ?? UNKNOWN).near;
    return [of(0), of(1), of(2)];
  }

  look(now: string): Look {
    this.#notice(now);
    const at = Date.parse(now);
    const deep = at - this.#deepAt >= DEEP_EVERY_MS;
    const reach = at - this.#wholeAt >= WHOLE_EVERY_MS ? 'whole' : deep ? 'deep' : 'near';
    return { reach, now, floors: [this.#floors(0, reach), this.#floors(1, reach), this.#floors(2, reach)] };
  }

  leased(kind: Kind, webhookId: string, search: Omit<Search, 'reach'>): void {
    this.#notice(search.now);
    this.#raise(kind, webhookId, { ...search, reach: 'near' });
  }

  /** @param found for each active subscription when the first lane of each kind is due */
  looked(look: Look, found: ReadonlyMap<string, Each<string | null>>): void {
    const { reach, now, floors } = look;
    this.#notice(now);
    for (const kind of KINDS) {
      for (const [webhookId, first] of found) {
        const from = floors[kind][webhookId] ?? FROM_THE_START;
        this.#raise(kind, webhookId, { reach, from, first: first[kind], now });
      }
    }
    if (reach === 'near') return;
    this.#deepAt = Date.parse(now);
    if (reach === 'whole') this.#wholeAt = this.#deepAt;
    for (const known of this.#kinds)
      for (const webhookId of known.keys()) if (!found.has(webhookId)) known.delete(webhookId);
  }

  #raise(kind: Kind, webhookId: string, { reach, from, first, now }: Search): void {
    if (!this.#kept) return;
    const known = this.#kinds[kind].get(webhookId) ?? UNKNOWN;
    // A look further back has lowered it meanwhile, and this search has not seen what that one found.
    if (reach === 'near' && from > known.near) return;
    const bound = (ms: number): string => earlier(first ?? now, before(now, ms));
    const near = bound(USUAL_DELAY_MS);
    this.#kinds[kind].set(
      webhookId,
      reach === 'near'
        ? { near: later(known.near, near), deep: known.deep }
        : { near, deep: later(known.deep, bound(LONGEST_DELAY_MS)) },
    );
  }

  #floors(kind: Kind, reach: Reach): Readonly<Record<string, string>> {
    if (reach === 'whole') return {};
    return Object.fromEntries([...this.#kinds[kind]].map(([webhookId, floor]) => [webhookId, floor[reach]]));
  }

  /** A clock that was set back, or that of a server which took over: then lanes are due before what was the past. */
  #notice(now: string): void {
    if (this.#lastNow !== '' && now < before(this.#lastNow, USUAL_DELAY_MS)) {
      for (const known of this.#kinds) known.clear();
      [this.#deepAt, this.#wholeAt] = [-Infinity, -Infinity];
    }
    this.#lastNow = now;
  }
}

const FLOORS = ['first_floor', 'retry_floor', 'lease_floor'] as const;
type FloorName = (typeof FLOORS)[number] | 'floor';

/** Every floor of a kind as a row; a subscription without one is searched from the start. */
const floorRows = (floors: Readonly<Record<string, string>>, name: FloorName) =>
  sql<{ key: string; value: string }>`json_each_text(cast(${JSON.stringify(floors)} as json))`.as(name);

/** Each active subscription: when the first of its lanes is due, by tier, and when the first lease ends. Floors are known in PostgreSQL only. */
export const activeSubscriptions = (
  { builder, dialect }: Pick<SqlDatabase, 'builder' | 'dialect'>,
  { floors }: Pick<Look, 'floors'>,
) => {
  const floored = dialect === 'postgres';
  const lanesFrom = (floor: FloorName) =>
    builder
      .selectFrom('webhook_lane as l')
      .select((lane) => lane.fn.min('l.ready_at').as('at'))
      .where('l.webhook_id', '=', sql.ref<string>('s.webhook_id'))
      .$if(floored, (q) =>
        q.where('l.ready_at', '>=', sql<string>`coalesce(${sql.ref(`${floor}.value`)}, '')`),
      );
  const due = (tier: 0 | 1) =>
    lanesFrom(FLOORS[tier]).where('l.tier', '=', sql.lit(tier)).where('l.token', '=', UNLEASED);
  return builder
    .selectFrom('webhook_subscription as s')
    .$if(floored, (q) => q.leftJoin(floorRows(floors[0], 'first_floor'), 'first_floor.key', 's.webhook_id'))
    .$if(floored, (q) => q.leftJoin(floorRows(floors[1], 'retry_floor'), 'retry_floor.key', 's.webhook_id'))
    .$if(floored, (q) => q.leftJoin(floorRows(floors[2], 'lease_floor'), 'lease_floor.key', 's.webhook_id'))
    .select(['s.webhook_id', 's.updated_at'])
    .select([due(0).as('first_at'), due(1).as('retry_at')])
    .select(lanesFrom('lease_floor').where('l.token', '<>', UNLEASED).as('lease_ends_at'))
    .where('s.status', '=', ACTIVE);
};

export interface OldestWaiting {
  readonly webhookId: string;
  readonly oldestCreatedAt: string;
}

/**
 * Creation of the oldest delivery in this state at the subscription `s` of the enclosing query. States are written out, not bound: a partial index
 * is found by its own condition only.
 */
const oldestOf = (builder: Kysely<Schema>, status: DeliveryState, floored: boolean) =>
  builder
    .selectFrom('webhook_delivery as oldest')
    .select('oldest.created_at')
    .where('oldest.webhook_id', '=', sql.ref<string>('s.webhook_id'))
    .where('oldest.delivery_id', '=', (eb) =>
      eb
        .selectFrom('webhook_delivery as d')
        .select((d) => d.fn.min('d.delivery_id').as('delivery_id'))
        .where('d.webhook_id', '=', sql.ref<string>('s.webhook_id'))
        .where('d.status', '=', sql.lit(status))
        .where('d.status', '<>', sql.lit<DeliveryState>('delivered'))
        .$if(floored, (q) => q.where('d.delivery_id', '>=', sql<string>`coalesce(floor.value, '')`)),
    );

/**
 * Since when deliveries wait. The search for the oldest begins at a delivery id, by subscription: as with lanes, what
 * was delivered stays in PostgreSQL's index while a transaction is held open. A delivery waits from its creation on, and ids sort by
 * creation, so none that is older than the oldest one found comes to wait any more, but for one that is asked for again: that one is
 * found by the searches from the start, every ten minutes.
 */
export class DeliveryLag {
  readonly #database: SqlDatabase;
  readonly #now: () => number;
  #floors: Readonly<Record<string, string>> = {};
  #wholeAt = -Infinity;

  /** @param now UNIX milliseconds */
  constructor(database: SqlDatabase, now: () => number = () => Date.now()) {
    this.#database = database;
    this.#now = now;
  }

  async read(): Promise<readonly OldestWaiting[]> {
    const { builder } = this.#database;
    const floors = this.#knownFloors();
    const oldest = (status: DeliveryState) => oldestOf(builder, status, floors !== undefined);
    const rows = await this.#database.read(
      builder
        .selectFrom('webhook_subscription as s')
        .$if(floors !== undefined, (q) =>
          q.leftJoin(floorRows(floors!, 'floor'), 'floor.key', 's.webhook_id'),
        )
        .select('s.webhook_id')
        .select([oldest('pending').as('pending'), oldest('retrying').as('retrying')])
        .where('s.status', '<>', 'removed'),
    );
    const lags = rows.map(({ webhook_id: webhookId, pending, retrying }) => ({
      webhookId,
      oldestCreatedAt: [pending, retrying].filter((instant) => instant !== null).sort()[0],
    }));
    const now = this.#now();
    if (floors === undefined) this.#wholeAt = now;
    this.#floors = Object.fromEntries(
      lags.map(({ webhookId, oldestCreatedAt }) => {
        const since = oldestCreatedAt === undefined ? now : Date.parse(oldestCreatedAt);
        return [webhookId, firstIdAt(Math.min(since, now) - LONGEST_DELAY_MS)];
      }),
    );
    return lags.flatMap(({ webhookId, oldestCreatedAt }) =>
      oldestCreatedAt === undefined ? [] : [{ webhookId, oldestCreatedAt }],
    );
  }

  /** Undefined for a search from the start. */
  #knownFloors(): Readonly<Record<string, string>> | undefined {
    const now = this.#now();
    // Also after a clock that was set back.
    const recent = now >= this.#wholeAt && now - this.#wholeAt < WHOLE_EVERY_MS;
    return this.#database.dialect === 'postgres' && recent ? this.#floors : undefined;
  }
}
