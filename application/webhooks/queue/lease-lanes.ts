import type { WebhookEvent } from './enqueue.ts';
import { randomUUID } from 'node:crypto';
import type { LaneLease } from './lane-heads.ts';
import type { SqlDatabase, Statement, StatementResult } from '../../sql/sql-database.ts';
import type { EventBodies } from './enqueue.ts';
import { asStatements } from '../../sql/prepared-query.ts';
import type { LaneFloors } from './floors.ts';
import { REPEATABLE, laneKey } from './lane-heads.ts';
import type { LaneStatements } from './lanes.ts';

export interface DeliveryEndpoint {
  readonly webhookId: string;
  readonly applicationId: string;
  readonly url: string;
  readonly sealedSecret: string;
}

export interface LeasedDelivery {
  readonly lease: LaneLease;
  readonly endpoint: DeliveryEndpoint;
  readonly deliveryId: string;
  readonly event: WebhookEvent;
  /** Number of the attempt to make; 1 for the first. */
  readonly attempt: number;
  /** Attempts of the retry schedule used up before this one. */
  readonly scheduledAttempts: number;
  /** Asked for by hand: outside the order and outside the schedule. */
  readonly redelivery: boolean;
  readonly createdAt: string;
}

export interface LeaseRequest {
  readonly webhookId: string;
  readonly firstAttempts: number;
  readonly retries: number;
}

/** When the next lane of a subscription can be leased; null when there is none. */
export interface LaneSchedule {
  readonly webhookId: string;
  readonly firstAttemptAt: string | null;
  readonly retryAt: string | null;
  /** When somebody last changed the subscription; of a look at all of them. */
  readonly changedAt?: string;
}

export interface LeasedLanes {
  readonly deliveries: readonly LeasedDelivery[];
  /** What is left after this call, one entry a request. */
  readonly schedules: readonly LaneSchedule[];
}

export interface HeadRow extends Pick<LeasedDelivery, 'deliveryId' | 'scheduledAttempts' | 'createdAt'> {
  readonly webhookId: string;
  readonly lane: string;
  readonly eventId: string;
  readonly attempts: number;
  readonly redeliveryAttempt: number | null;
}

export interface Head {
  readonly row: HeadRow;
  readonly endpoint: DeliveryEndpoint;
  readonly lease: LaneLease;
}

/** Puts heads and their events together; undefined for one whose event is gone. */
export const leasedDeliveries = async (
  heads: readonly Head[],
  bodies: EventBodies,
): Promise<readonly (LeasedDelivery | undefined)[]> => {
  const events = await bodies.load(heads.map(({ row }) => row.eventId));
  return heads.map(({ row: { redeliveryAttempt, eventId, attempts, ...row }, endpoint, lease }) => {
    const event = events.get(eventId);
    const { deliveryId, scheduledAttempts, createdAt } = row;
    const redelivery = redeliveryAttempt !== null;
    const attempt = redeliveryAttempt ?? attempts + 1;
    return event && { lease, endpoint, deliveryId, event, attempt, scheduledAttempts, redelivery, createdAt };
  });
};

const FIRST = 0;
const RETRY = 1;
const TIERS = [FIRST, RETRY] as const;

/** Beside the tiers: lanes that are leased. */
const LEASED = 2;
interface Place extends LeaseRequest {
  readonly floors: ReturnType<LaneFloors['floorsOf']>;
  /** Of its own: what another request for the same subscription leases in the same call is not found under it. */
  readonly token: string;
}

interface Term {
  readonly now: string;
  readonly leaseUntil: string;
}

interface Leased {
  readonly leases: LaneLease[];
  readonly heads: Head[];
  readonly schedules: LaneSchedule[];
}

const tiersOf = ({ firstAttempts, retries }: LeaseRequest) =>
  [[FIRST, firstAttempts] as const, [RETRY, retries] as const].filter(([, limit]) => limit > 0);

const roomOf = ({ firstAttempts, retries }: LeaseRequest): number => firstAttempts + retries;

export class LaneLeasing {
  readonly #database: SqlDatabase;
  readonly #lanes: LaneStatements;
  readonly #bodies: EventBodies;
  readonly #floors: LaneFloors;

  constructor(database: SqlDatabase, lanes: LaneStatements, bodies: EventBodies, floors: LaneFloors) {
    this.#database = database;
    this.#lanes = lanes;
    this.#bodies = bodies;
    this.#floors = floors;
  }

  /** `headless`: leased, but with nothing to send now. */
  async lease(
    requests: readonly LeaseRequest[],
    now: string,
    leaseUntil: string,
  ): Promise<LeasedLanes & { readonly headless: readonly LaneLease[] }> {
    const term = { now, leaseUntil };
    const places = requests.map((request): Place => {
      const floors = this.#floors.floorsOf(request.webhookId, now);
      return { ...request, floors, token: randomUUID() };
    });
    const statements = places.flatMap((place) => this.#statements(place, term));
    const { leases, heads, schedules } = this.#read(
      places,
      await this.#database.transaction(statements, REPEATABLE),
      term,
    );
    const found = (await leasedDeliveries(heads, this.#bodies)).filter((delivery) => delivery !== undefined);
    const taken = new Set(found.map(({ lease }) => laneKey(lease)));
    const headless = leases.filter((lease) => !taken.has(laneKey(lease)));
    return { deliveries: found, schedules, headless };
  }

  #statements(request: Place, { now, leaseUntil }: Term): readonly Statement[] {
    const webhook = { webhook_id: request.webhookId };
    const { token } = request;
    const leases = tiersOf(request).flatMap(([tier, limit]) => {
      const place = { ...webhook, tier, floor: request.floors[tier], now, lease_until: leaseUntil, token };
      return [this.#lanes.leaseDue({ ...place, limit }), this.#lanes.leasedHeads(place)];
    });
    const ready = TIERS.map((tier) =>
      this.#lanes.firstReady({ ...webhook, tier, floor: request.floors[tier] }),
    );
    const ended = { ...webhook, floor: request.floors[LEASED], now, limit: roomOf(request) };
    return asStatements([this.#lanes.reclaim(ended), ...leases, this.#lanes.endpoint(webhook), ...ready]);
  }

  /** Takes the results apart in the order in which `#statements` asked for them. */
  #read(
    requests: readonly Place[],
    results: readonly StatementResult[],
    { now, leaseUntil: until }: Term,
  ): Leased {
    const leased: Leased = { leases: [], heads: [], schedules: [] };
    let at = 0;
    for (const request of requests) {
      const { webhookId, token } = request;
      const rows: HeadRow[] = [];
      const from = request.floors[LEASED];
      // With as many as were asked for there may be more, as early as the search began.
      const first = results[at++]!.changes < roomOf(request) ? null : from;
      this.#floors.leased(LEASED, webhookId, { from, first, now });
      for (const _tier of tiersOf(request)) {
        for (const { lane } of results[at++]!.rows as unknown as readonly { lane: string }[]) {
          leased.leases.push({ webhookId, lane, token, until });
        }
        rows.push(...(results[at++]!.rows as unknown as readonly HeadRow[]));
      }
      const [endpoint] = results[at++]!.rows as unknown as readonly DeliveryEndpoint[];
      if (endpoint)
        leased.heads.push(
          ...rows.map((row) => ({ row, endpoint, lease: { webhookId, lane: row.lane, token, until } })),
        );
      const ready = TIERS.map((tier) => {
        const { ready_at: first } = results[at++]!.rows[0] as { ready_at: string | null };
        this.#floors.leased(tier, webhookId, { from: request.floors[tier], first, now });
        // Nothing can be leased of a paused subscription; resuming it wakes the dispatcher.
        return endpoint ? first : null;
      });
      leased.schedules.push({ webhookId, firstAttemptAt: ready[FIRST]!, retryAt: ready[RETRY]! });
    }
    return leased;
  }
}
