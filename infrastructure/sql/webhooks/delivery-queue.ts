import type {
  AttemptResult,
  DeliveryQueue,
  LaneLease,
  LaneSchedule,
  LeaseRequest,
  LeasedLanes,
  PlannedDelivery,
  RecordedResult,
  Redelivery,
  Retention,
  WebhookEvent,
} from '../../../application/ports/delivery-queue.ts';
import type { ConsumerProgress } from '../../../application/ports/event-bus.ts';
import { ProgressStatements, asPartitionLost } from '../consumer-offsets.ts';
import { notAlone } from '../coordination.ts';
import { GuardFailedError } from '../sql-database.ts';
import type { SqlDatabase, Statement } from '../sql-database.ts';
import { EnqueueStatements, EventBodies, GIVING_EVENTS } from './enqueue.ts';
import { REPEATABLE, laneKey, laneStatements } from './lanes.ts';
import type { LaneStatements } from './lanes.ts';
import { LaneFloors, activeSubscriptions } from './lane-floors.ts';
import { LaneLeasing, leasedDeliveries } from './lease-lanes.ts';
import type { Head } from './lease-lanes.ts';
import { RedeliveryRequests } from './redeliver.ts';
import { ResultStatements, isRunningLow } from './result-statements.ts';
import { RetentionSteps } from './retain.ts';

interface RecordedTogether {
  readonly recorded: readonly RecordedResult[];
  /** Kept, but with nothing to send now. */
  readonly idle: readonly LaneLease[];
}

/** Stores results together in one transaction; when one of them comes too late, each in a transaction of its own. */
class ResultRecorder {
  readonly #database: SqlDatabase;
  readonly #statements: ResultStatements;
  readonly #bodies: EventBodies;

  constructor(database: SqlDatabase, statements: ResultStatements, bodies: EventBodies) {
    this.#database = database;
    this.#statements = statements;
    this.#bodies = bodies;
  }

  async record(
    results: readonly AttemptResult[],
    now: string,
    leaseUntil: string,
  ): Promise<RecordedTogether> {
    try {
      return await this.#together(results, now, leaseUntil);
    } catch (error) {
      if (!(error instanceof GuardFailedError)) throw error;
      if (results.length === 1) return { recorded: [{ kind: 'lease_lost' }], idle: [] };
      const alone = await Promise.all(results.map((result) => this.record([result], now, leaseUntil)));
      return {
        recorded: alone.flatMap(({ recorded }) => recorded),
        idle: alone.flatMap(({ idle }) => idle),
      };
    }
  }

  async #together(
    results: readonly AttemptResult[],
    now: string,
    leaseUntil: string,
  ): Promise<RecordedTogether> {
    const storing = this.#statements.of(results, now, leaseUntil);
    const answers = await this.#database.transaction(storing.statements, REPEATABLE);
    const { emptied, heads, endpoints } = storing.read(answers);
    const renewed = (lease: LaneLease): LaneLease =>
      isRunningLow(lease, now, leaseUntil) ? { ...lease, until: leaseUntil } : lease;
    const found = results.flatMap(({ delivery: { lease } }): Head[] => {
      const [row, endpoint] = [heads.get(laneKey(lease)), endpoints.get(lease.webhookId)];
      return row && endpoint ? [{ row, endpoint, lease: renewed(lease) }] : [];
    });
    const deliveries = await leasedDeliveries(found, this.#bodies);
    const next = new Map(found.map(({ lease }, index) => [laneKey(lease), deliveries[index]]));
    const recorded = results.map(({ delivery: { lease } }): RecordedResult => {
      const delivery = next.get(laneKey(lease));
      if (delivery) return { kind: 'next', delivery };
      return { kind: emptied.has(laneKey(lease)) ? 'emptied' : 'released' };
    });
    const isIdle = ({ delivery, keepLane }: AttemptResult, index: number): boolean =>
      keepLane && !delivery.redelivery && recorded[index]!.kind === 'released';
    return { recorded, idle: results.filter(isIdle).map(({ delivery }) => delivery.lease) };
  }
}

/** Lanes and deliveries in SQL. What belongs together is one transaction. */
export class SqlDeliveryQueue implements DeliveryQueue {
  readonly #database: SqlDatabase;
  readonly #lanes: LaneStatements;
  readonly #bodies: EventBodies;
  readonly #floors: LaneFloors;
  readonly #enqueue: EnqueueStatements;
  readonly #progress: ProgressStatements;
  readonly #leasing: LaneLeasing;
  readonly #recorder: ResultRecorder;
  readonly #redeliveries: RedeliveryRequests;
  readonly #retention: RetentionSteps;

  constructor(database: SqlDatabase) {
    const { builder } = database;
    this.#database = database;
    this.#lanes = laneStatements(database);
    this.#bodies = new EventBodies(database);
    this.#enqueue = new EnqueueStatements(builder);
    this.#progress = new ProgressStatements(builder);
    this.#floors = new LaneFloors(database.dialect);
    this.#leasing = new LaneLeasing(database, this.#lanes, this.#bodies, this.#floors);
    const statements = new ResultStatements(database, this.#lanes);
    this.#recorder = new ResultRecorder(database, statements, this.#bodies);
    this.#redeliveries = new RedeliveryRequests(database, this.#enqueue);
    this.#retention = new RetentionSteps(database);
  }

  async enqueue(
    planned: readonly PlannedDelivery[],
    now: string,
    progress?: ConsumerProgress,
  ): Promise<number> {
    if (planned.length === 0 && !progress) return 0;
    const enqueued = this.#enqueue.inLanes(planned, now);
    const before = [
      ...(progress ? this.#progress.of(progress, now) : []),
      ...notAlone(this.#database, GIVING_EVENTS),
    ];
    const results = await this.#write([...before, ...enqueued.statements], progress);
    const { events, deliveries } = enqueued.read(results.slice(before.length));
    // An event that was there already keeps the bytes it had.
    for (const event of events) this.#bodies.remember(event);
    return deliveries;
  }

  async #write(statements: readonly Statement[], progress: ConsumerProgress | undefined) {
    try {
      return await this.#database.transaction(statements);
    } catch (error) {
      throw progress ? asPartitionLost(error, progress, 0) : error;
    }
  }

  async lease(requests: readonly LeaseRequest[], now: string, leaseUntil: string): Promise<LeasedLanes> {
    const { headless, ...leased } = await this.#leasing.lease(requests, now, leaseUntil);
    // Emptied or put off by a redelivery meanwhile: they go, or wait for their head's own time.
    await this.release(headless, now);
    return leased;
  }

  async record(
    results: readonly AttemptResult[],
    now: string,
    leaseUntil: string,
  ): Promise<readonly RecordedResult[]> {
    if (results.length === 0) return [];
    const { recorded, idle } = await this.#recorder.record(results, now, leaseUntil);
    await this.release(idle, now);
    return recorded;
  }

  async release(leases: readonly LaneLease[], now: string): Promise<void> {
    if (leases.length === 0) return;
    const statements = [...this.#lanes.hold(leases), ...this.#lanes.handBack(leases, now)];
    await this.#database.transaction(statements, REPEATABLE);
  }

  async schedules(now: string): Promise<readonly LaneSchedule[]> {
    const look = this.#floors.look(now);
    const active = await this.#database.read(activeSubscriptions(this.#database, look));
    this.#floors.looked(
      look,
      new Map(
        active.map((row) => [row.webhook_id, [row.first_at, row.retry_at, row.lease_ends_at] as const]),
      ),
    );
    return active.flatMap(({ webhook_id: webhookId, first_at, retry_at: retryAt, lease_ends_at }) => {
      const [firstAttemptAt = null] = [first_at, lease_ends_at].filter((at) => at !== null).sort();
      return firstAttemptAt === null && retryAt === null ? [] : [{ webhookId, firstAttemptAt, retryAt }];
    });
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
