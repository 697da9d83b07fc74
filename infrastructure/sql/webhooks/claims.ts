import { randomUUID } from 'node:crypto';
import type {
  Claim,
  ClaimRequest,
  LaneLease,
  LaneSchedule,
} from '../../../application/ports/delivery-queue.ts';
import type { SqlDatabase, Statement, StatementResult } from '../sql-database.ts';
import type { EventBodies } from './event-bodies.ts';
import type { LaneStatements } from './lane-statements.ts';
import { endpointOf, leasedDeliveries } from './leased-deliveries.ts';
import type { Head, HeadRow } from './leased-deliveries.ts';
import { REPEATABLE } from './settlements.ts';

export const FIRST = 0;
export const RETRY = 1;

interface Term {
  readonly token: string;
  readonly now: string;
  readonly leaseUntil: string;
}

interface Claimed {
  readonly leases: LaneLease[];
  readonly heads: Head[];
  readonly schedules: LaneSchedule[];
}

const tiersOf = ({ firstAttempts, retries }: ClaimRequest): readonly [tier: number, limit: number][] =>
  (
    [
      [FIRST, firstAttempts],
      [RETRY, retries],
    ] as [number, number][]
  ).filter(([, limit]) => limit > 0);

/** The claim of many subscriptions' lanes in one transaction. */
export class Claims {
  readonly #database: SqlDatabase;
  readonly #lanes: LaneStatements;
  readonly #bodies: EventBodies;

  constructor(database: SqlDatabase, lanes: LaneStatements, bodies: EventBodies) {
    this.#database = database;
    this.#lanes = lanes;
    this.#bodies = bodies;
  }

  /** `headless`: leased, but with nothing to send now. */
  async make(
    requests: readonly ClaimRequest[],
    now: string,
    leaseUntil: string,
  ): Promise<Claim & { readonly headless: readonly LaneLease[] }> {
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

  #statements(request: ClaimRequest, { token, now, leaseUntil }: Term): Statement[] {
    const webhook = { webhook_id: request.webhookId };
    const claims = tiersOf(request).flatMap(([tier, limit]) => {
      const place = { ...webhook, tier, now, lease_until: leaseUntil, token };
      return [this.#lanes.claim({ ...place, limit }), this.#lanes.claimedHeads(place)];
    });
    const ready = [FIRST, RETRY].map((tier) => this.#lanes.firstReady({ ...webhook, tier }));
    return [...claims, this.#lanes.endpoint(webhook), ...ready].map((query) => ({ query }));
  }

  /** Takes the results apart in the order in which `#statements` asked for them. */
  #read(
    requests: readonly ClaimRequest[],
    results: readonly StatementResult[],
    { token, leaseUntil: until }: Term,
  ): Claimed {
    const claimed: Claimed = { leases: [], heads: [], schedules: [] };
    let at = 0;
    for (const request of requests) {
      const { webhookId } = request;
      const rows: HeadRow[] = [];
      for (const _tier of tiersOf(request)) {
        for (const { lane } of results[at++]!.rows as unknown as readonly { lane: string }[]) {
          claimed.leases.push({ webhookId, lane, token, until });
        }
        rows.push(...(results[at++]!.rows as unknown as readonly HeadRow[]));
      }
      const endpoint = endpointOf(results[at++]!);
      if (endpoint)
        claimed.heads.push(
          ...rows.map((row) => ({ row, endpoint, lease: { webhookId, lane: row.lane, token, until } })),
        );
      const [firstAttemptAt = null, retryAt = null] = [results[at++]!, results[at++]!].map((result) =>
        // Nothing can be claimed of a paused subscription; resuming it wakes the dispatcher.
        endpoint ? (result.rows[0] as { ready_at: string | null }).ready_at : null,
      );
      claimed.schedules.push({ webhookId, firstAttemptAt, retryAt });
    }
    return claimed;
  }
}
