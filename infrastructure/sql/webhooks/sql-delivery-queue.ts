import type {
  AttemptResult,
  Claim,
  ClaimRequest,
  DeliveryQueue,
  LaneLease,
  LaneSchedule,
  PlannedDelivery,
  Retention,
  Settlement,
  WebhookEvent,
} from '../../../application/ports/delivery-queue.ts';
import type { Redelivery } from '../../../application/ports/redelivery.ts';
import type { SqlDatabase } from '../sql-database.ts';
import { Claims, FIRST, RETRY } from './claims.ts';
import { EnqueueStatements } from './enqueue-statements.ts';
import { EventBodies } from './event-bodies.ts';
import { laneStatements } from './lane-statements.ts';
import type { LaneStatements } from './lane-statements.ts';
import { OutcomeStatements } from './outcome-statements.ts';
import { RedeliveryRequests } from './redelivery-requests.ts';
import { RetentionSteps } from './retention-steps.ts';
import { Settlements } from './settlements.ts';

/** Lanes and deliveries in SQL. Whatever belongs together is one transaction. */
export class SqlDeliveryQueue implements DeliveryQueue {
  readonly #database: SqlDatabase;
  readonly #lanes: LaneStatements;
  readonly #bodies: EventBodies;
  readonly #enqueue: EnqueueStatements;
  readonly #claims: Claims;
  readonly #settlements: Settlements;
  readonly #redeliveries: RedeliveryRequests;
  readonly #retention: RetentionSteps;

  constructor(database: SqlDatabase) {
    const { builder } = database;
    this.#database = database;
    this.#lanes = laneStatements(builder);
    this.#bodies = new EventBodies(database);
    this.#enqueue = new EnqueueStatements(builder);
    this.#claims = new Claims(database, this.#lanes, this.#bodies);
    const outcomes = new OutcomeStatements(builder, this.#lanes);
    this.#settlements = new Settlements(database, this.#lanes, outcomes, this.#bodies);
    this.#redeliveries = new RedeliveryRequests(database, this.#enqueue);
    this.#retention = new RetentionSteps(database);
  }

  async enqueue(planned: readonly PlannedDelivery[], now: string): Promise<number> {
    if (planned.length === 0) return 0;
    const { events, deliveries, statements } = this.#enqueue.inLanes(planned, now);
    const results = await this.#database.transaction(statements);
    const changed = (index: number): boolean => results[index]!.changes > 0;
    // An event that was there already keeps the bytes it had.
    events.forEach((event, index) => changed(index) && this.#bodies.remember(event));
    return deliveries.filter(changed).length;
  }

  async claim(requests: readonly ClaimRequest[], now: string, leaseUntil: string): Promise<Claim> {
    const { headless, ...claim } = await this.#claims.make(requests, now, leaseUntil);
    // Emptied or put off by a redelivery meanwhile: they go, or wait for their head's own time.
    await this.release(headless, now);
    return claim;
  }

  async settle(
    results: readonly AttemptResult[],
    now: string,
    leaseUntil: string,
  ): Promise<readonly Settlement[]> {
    if (results.length === 0) return [];
    const { settlements, idle } = await this.#settlements.make(results, now, leaseUntil);
    await this.release(idle, now);
    return settlements;
  }

  async release(leases: readonly LaneLease[], now: string): Promise<void> {
    if (leases.length === 0) return;
    await this.#database.transaction(leases.flatMap((lease) => this.#lanes.handBack(lease, now)));
  }

  async schedules(): Promise<readonly LaneSchedule[]> {
    const rows = await this.#database.read(
      this.#database.builder
        .selectFrom('webhook_subscription as s')
        .select('s.webhook_id')
        .select((eb) =>
          [FIRST, RETRY].map((tier) =>
            eb
              .selectFrom('webhook_lane as l')
              .select((lane) => lane.fn.min('l.ready_at').as('at'))
              .whereRef('l.webhook_id', '=', 's.webhook_id')
              .where('l.tier', '=', tier)
              .as(tier === FIRST ? 'first_at' : 'retry_at'),
          ),
        )
        .where('s.status', '=', 'active')
        .where((eb) =>
          eb.exists(
            eb.selectFrom('webhook_lane as l').select('l.lane').whereRef('l.webhook_id', '=', 's.webhook_id'),
          ),
        ),
    );
    return rows.map((row) => ({
      webhookId: row.webhook_id,
      firstAttemptAt: row.first_at ?? null,
      retryAt: row.retry_at ?? null,
    }));
  }

  findEvent(applicationId: string, eventId: string) {
    return this.#redeliveries.findEvent(applicationId, eventId);
  }

  redeliver(event: WebhookEvent, webhookIds: readonly string[], now: string): Promise<readonly Redelivery[]> {
    return this.#redeliveries.request(event, webhookIds, now);
  }

  cleanUp(retention: Retention): Promise<number> {
    return this.#retention.next(retention);
  }
}
