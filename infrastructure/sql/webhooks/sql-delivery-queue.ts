import type { ConsumerProgress } from '../../../application/ports/event-bus.ts';
import type {
  AttemptResult,
  Claim,
  ClaimRequest,
  DeliveryQueue,
  LaneLease,
  LaneSchedule,
  PlannedDelivery,
  Redelivery,
  Retention,
  Settlement,
  WebhookEvent,
} from '../../../application/ports/delivery-queue.ts';
import { ProgressStatements, asPartitionLost } from '../consumer-offsets.ts';
import { notAlone } from '../locks.ts';
import type { SqlDatabase, Statement } from '../sql-database.ts';
import { Claims, FIRST, RETRY } from './claims.ts';
import { EnqueueStatements, GIVING_EVENTS } from './enqueue-statements.ts';
import { EventBodies } from './event-bodies.ts';
import { laneStatements } from './lane-statements.ts';
import type { LaneStatements } from './lane-statements.ts';
import { OutcomeStatements, byLane } from './outcome-statements.ts';
import { RedeliveryRequests } from './redelivery-requests.ts';
import { RetentionSteps } from './retention-steps.ts';
import { REPEATABLE, Settlements } from './settlements.ts';

/** Lanes and deliveries in SQL. Whatever belongs together is one transaction. */
export class SqlDeliveryQueue implements DeliveryQueue {
  readonly #database: SqlDatabase;
  readonly #lanes: LaneStatements;
  readonly #bodies: EventBodies;
  readonly #enqueue: EnqueueStatements;
  readonly #progress: ProgressStatements;
  readonly #claims: Claims;
  readonly #settlements: Settlements;
  readonly #redeliveries: RedeliveryRequests;
  readonly #retention: RetentionSteps;

  constructor(database: SqlDatabase) {
    const { builder } = database;
    this.#database = database;
    this.#lanes = laneStatements(database);
    this.#bodies = new EventBodies(database);
    this.#enqueue = new EnqueueStatements(builder);
    this.#progress = new ProgressStatements(builder);
    this.#claims = new Claims(database, this.#lanes, this.#bodies);
    const outcomes = new OutcomeStatements(builder, this.#lanes);
    this.#settlements = new Settlements(database, this.#lanes, outcomes, this.#bodies);
    this.#redeliveries = new RedeliveryRequests(database, this.#enqueue);
    this.#retention = new RetentionSteps(database);
  }

  async enqueue(
    planned: readonly PlannedDelivery[],
    now: string,
    progress?: ConsumerProgress,
  ): Promise<number> {
    if (planned.length === 0 && !progress) return 0;
    const { events, deliveries, statements } = this.#enqueue.inLanes(planned, now);
    const before = [
      ...(progress ? this.#progress.of(progress, now) : []),
      ...notAlone(this.#database, GIVING_EVENTS),
    ];
    const results = (await this.#write([...before, ...statements], progress)).slice(before.length);
    const changed = (index: number): boolean => results[index]!.changes > 0;
    // An event that was there already keeps the bytes it had.
    events.forEach((event, index) => changed(index) && this.#bodies.remember(event));
    return deliveries.filter(changed).length;
  }

  async #write(statements: readonly Statement[], progress: ConsumerProgress | undefined) {
    try {
      return await this.#database.transaction(statements);
    } catch (error) {
      throw progress ? asPartitionLost(error, progress, 0) : error;
    }
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
    const lanes = leases.toSorted(byLane);
    await this.#database.transaction(
      lanes.flatMap((lease) => [this.#lanes.hold(lease), ...this.#lanes.handBack(lease, now)]),
      REPEATABLE,
    );
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
