import { randomUUID } from 'node:crypto';
import type {
  DeliveryEndpoint,
  LaneLease,
  LaneSchedule,
  LeaseRequest,
  LeasedDelivery,
  LeasedLanes,
} from '../../../application/ports/delivery-queue.ts';
import type { SqlDatabase, Statement, StatementResult } from '../sql-database.ts';
import type { EventBodies } from './events.ts';
import { REPEATABLE } from './lanes.ts';
import type { LaneStatements } from './lanes.ts';

/** A lane's head as the lane statements answer it. */
export interface HeadRow {
  readonly webhook_id: string;
  readonly lane: string;
  readonly redelivery_attempt: number | null;
  readonly delivery_id: string;
  readonly event_id: string;
  readonly attempts: number;
  readonly scheduled_attempts: number;
  readonly created_at: string;
}

interface EndpointRow {
  readonly webhook_id: string;
  readonly application_id: string;
  readonly url: string;
  readonly sealed_secret: string;
}

export const endpointOf = ({ rows }: StatementResult): DeliveryEndpoint | undefined => {
  const [row] = rows as unknown as readonly EndpointRow[];
  if (!row) return undefined;
  const { webhook_id, application_id, url, sealed_secret } = row;
  return { webhookId: webhook_id, applicationId: application_id, url, sealedSecret: sealed_secret };
};

/** A head whose subscription is active, and the lease that it stands under. */
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
  const events = await bodies.load(heads.map(({ row }) => row.event_id));
  return heads.map(({ row, endpoint, lease }) => {
    const event = events.get(row.event_id);
    return (
      event && {
        lease,
        endpoint,
        deliveryId: row.delivery_id,
        event,
        attempt: row.redelivery_attempt ?? row.attempts + 1,
        scheduledAttempts: row.scheduled_attempts,
        redelivery: row.redelivery_attempt !== null,
        createdAt: row.created_at,
      }
    );
  });
};

export const FIRST = 0;
export const RETRY = 1;

interface Term {
  readonly token: string;
  readonly now: string;
  readonly leaseUntil: string;
}

interface Leased {
  readonly leases: LaneLease[];
  readonly heads: Head[];
  readonly schedules: LaneSchedule[];
}

const tiersOf = ({ firstAttempts, retries }: LeaseRequest): readonly [tier: number, limit: number][] =>
  (
    [
      [FIRST, firstAttempts],
      [RETRY, retries],
    ] as [number, number][]
  ).filter(([, limit]) => limit > 0);

/** Leases lanes of many subscriptions in one transaction. */
export class LaneLeasing {
  readonly #database: SqlDatabase;
  readonly #lanes: LaneStatements;
  readonly #bodies: EventBodies;

  constructor(database: SqlDatabase, lanes: LaneStatements, bodies: EventBodies) {
    this.#database = database;
    this.#lanes = lanes;
    this.#bodies = bodies;
  }

  /** `headless`: leased, but with nothing to send now. */
  async lease(
    requests: readonly LeaseRequest[],
    now: string,
    leaseUntil: string,
  ): Promise<LeasedLanes & { readonly headless: readonly LaneLease[] }> {
    const term = { token: randomUUID(), now, leaseUntil };
    const statements = requests.flatMap((request) => this.#statements(request, term));
    const { leases, heads, schedules } = this.#read(
      requests,
      await this.#database.transaction(statements, REPEATABLE),
      term,
    );
    const found = (await leasedDeliveries(heads, this.#bodies)).filter((delivery) => delivery !== undefined);
    const taken = new Set(found.map(({ lease }) => `${lease.webhookId} ${lease.lane}`));
    const headless = leases.filter(({ webhookId, lane }) => !taken.has(`${webhookId} ${lane}`));
    return { deliveries: found, schedules, headless };
  }

  #statements(request: LeaseRequest, { token, now, leaseUntil }: Term): Statement[] {
    const webhook = { webhook_id: request.webhookId };
    const leases = tiersOf(request).flatMap(([tier, limit]) => {
      const place = { ...webhook, tier, now, lease_until: leaseUntil, token };
      return [this.#lanes.leaseDue({ ...place, limit }), this.#lanes.leasedHeads(place)];
    });
    const ready = [FIRST, RETRY].map((tier) => this.#lanes.firstReady({ ...webhook, tier }));
    return [...leases, this.#lanes.endpoint(webhook), ...ready].map((query) => ({ query }));
  }

  /** Takes the results apart in the order in which `#statements` asked for them. */
  #read(
    requests: readonly LeaseRequest[],
    results: readonly StatementResult[],
    { token, leaseUntil: until }: Term,
  ): Leased {
    const leased: Leased = { leases: [], heads: [], schedules: [] };
    let at = 0;
    for (const request of requests) {
      const { webhookId } = request;
      const rows: HeadRow[] = [];
      for (const _tier of tiersOf(request)) {
        for (const { lane } of results[at++]!.rows as unknown as readonly { lane: string }[]) {
          leased.leases.push({ webhookId, lane, token, until });
        }
        rows.push(...(results[at++]!.rows as unknown as readonly HeadRow[]));
      }
      const endpoint = endpointOf(results[at++]!);
      if (endpoint)
        leased.heads.push(
          ...rows.map((row) => ({ row, endpoint, lease: { webhookId, lane: row.lane, token, until } })),
        );
      const [firstAttemptAt = null, retryAt = null] = [results[at++]!, results[at++]!].map((result) =>
        // Nothing can be leased of a paused subscription; resuming it wakes the dispatcher.
        endpoint ? (result.rows[0] as { ready_at: string | null }).ready_at : null,
      );
      leased.schedules.push({ webhookId, firstAttemptAt, retryAt });
    }
    return leased;
  }
}
