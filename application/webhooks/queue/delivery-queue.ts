import type { LeasedDelivery } from './lease-lanes.ts';
import type { Redelivery } from './redeliver.ts';
import type { Retention } from './retain.ts';
import type { LongestWaits } from './plan-anew.ts';
import type { DeliveryEndpoint, Head, LaneSchedule, LeaseRequest, LeasedLanes } from './lease-lanes.ts';
import type { LaneLease } from './lane-heads.ts';
import type { PlannedDelivery, WebhookEvent } from './enqueue.ts';
import { MIB } from '../../support/sized-cache.ts';
import { ProgressWriter } from '../../processors/consumer-offsets.ts';
import type { Progress } from '../../processors/consumer-offsets.ts';
import { notAlone } from '../../sql/engine.ts';
import { GuardFailedError } from '../../sql/sql-database.ts';
import type { SqlDatabase } from '../../sql/sql-database.ts';
import { EnqueueStatements, EventBodies, GIVING_EVENTS } from './enqueue.ts';
import { REPEATABLE, laneKey } from './lane-heads.ts';
import { laneStatements } from './lanes.ts';
import type { LaneStatements } from './lanes.ts';
import { LaneFloors, activeSubscriptions } from './floors.ts';
import { LaneLeasing, leasedDeliveries } from './lease-lanes.ts';
import { planAnew } from './plan-anew.ts';
import { findEvent, redeliver } from './redeliver.ts';
import { ResultStatements, runningLow } from './result-statements.ts';
import type { AttemptResult } from './result-statements.ts';
import { cleanUp } from './retain.ts';

export type RecordedResult =
  /** Stored; the lane is given back with what waits in it, if anything does. */
  | { readonly kind: 'released' }
  /** Stored; the lane was to be kept, but nothing waits in it any more. */
  | { readonly kind: 'emptied' }
  /** Stored; the lease goes on with this delivery. */
  | { readonly kind: 'next'; readonly delivery: LeasedDelivery }
  /** Refused: the lease had ended and another process has the lane. Nothing of the result was stored. */
  | { readonly kind: 'lease_lost' };

interface RecordedTogether {
  readonly recorded: readonly RecordedResult[];
  /** Kept, but with nothing to send now. */
  readonly idle: readonly LaneLease[];
}

/**
 * What is to be sent, in lanes. A lane is one operation at one subscription; only its head can be leased, so deliveries of a lane
 * go out one after the other, in order of `sequence`. A lane exists only while something waits in it, and a lease costs the same
 * however much waits. Everything is durable when a call resolves. Instants are ISO 8601 UTC with milliseconds.
 */
export class DeliveryQueue {
  readonly #database: SqlDatabase;
  readonly #lanes: LaneStatements;
  readonly #bodies: EventBodies;
  readonly #floors: LaneFloors;
  readonly #enqueue: EnqueueStatements;
  readonly #progress: ProgressWriter;
  readonly #leasing: LaneLeasing;
  readonly #results: ResultStatements;

  /** @param cacheBytes for events that were queued here of late */
  constructor(database: SqlDatabase, cacheBytes = 4 * MIB) {
    const { builder } = database;
    this.#database = database;
    this.#lanes = laneStatements(database);
    this.#bodies = new EventBodies(database, cacheBytes);
    this.#enqueue = new EnqueueStatements(builder);
    this.#progress = new ProgressWriter(database);
    this.#floors = new LaneFloors(database.dialect);
    this.#leasing = new LaneLeasing(database, this.#lanes, this.#bodies, this.#floors);
    this.#results = new ResultStatements(database, this.#lanes);
  }

  /**
   * Once per subscription and event: a repetition changes nothing. Answers how many are new. The progress of the consumer that the
   * deliveries come from is stored with them: all or nothing.
   * @throws PlaceMovedError the progress is not that of the stored offset or place; nothing was stored
   */
  async enqueue(planned: readonly PlannedDelivery[], now: string, progress?: Progress): Promise<number> {
    if (planned.length === 0 && !progress) return 0;
    if (planned.length === 0 && progress && 'name' in progress) {
      // What the place stands for is stored already, or nothing: it may be done again.
      await this.#progress.commit(progress, now, [], { durability: 'relaxed' });
      return 0;
    }
    const enqueued = this.#enqueue.inLanes(planned, now);
    const before = notAlone(this.#database, GIVING_EVENTS);
    const statements = [...before, ...enqueued.statements];
    const results = progress
      ? await this.#progress.commit(progress, now, statements)
      : await this.#database.transaction(statements);
    const { events, deliveries } = enqueued.read(results.slice(before.length));
    // An event that was there already keeps the bytes it had.
    for (const event of events) this.#bodies.remember(event);
    return deliveries;
  }

  /** Leases due lanes of active subscriptions, longest due first. A lane whose lease ended counts as due. */
  async lease(requests: readonly LeaseRequest[], now: string, leaseUntil: string): Promise<LeasedLanes> {
    const { headless, ...leased } = await this.#leasing.lease(requests, now, leaseUntil);
    // Emptied or put off by a redelivery meanwhile: they go, or wait for their head's own time.
    await this.release(headless, now);
    return leased;
  }

  /** False where the subscription has another address or secret by now, is paused or is gone. */
  async isCurrent({ webhookId, url, sealedSecret }: DeliveryEndpoint): Promise<boolean> {
    const compile = () => this.#lanes.endpoint({ webhook_id: webhookId });
    const [now] = await this.#database.read({ compile });
    return now?.url === url && now.sealedSecret === sealedSecret;
  }

  /** All or nothing per attempt. A kept lease goes on, renewed to `leaseUntil` unless nearly all of it is left. */
  async record(
    results: readonly AttemptResult[],
    now: string,
    leaseUntil: string,
  ): Promise<readonly RecordedResult[]> {
    if (results.length === 0) return [];
    const { recorded, idle } = await this.#recorded(results, now, leaseUntil);
    await this.release(idle, now);
    return recorded;
  }

  /** Together in one transaction; when one of them comes too late, each in a transaction of its own. */
  async #recorded(
    results: readonly AttemptResult[],
    now: string,
    leaseUntil: string,
  ): Promise<RecordedTogether> {
    try {
      return await this.#together(results, now, leaseUntil);
    } catch (error) {
      if (!(error instanceof GuardFailedError)) throw error;
      if (results.length === 1) return { recorded: [{ kind: 'lease_lost' }], idle: [] };
      const alone = await Promise.all(results.map((result) => this.#recorded([result], now, leaseUntil)));
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
    const storing = this.#results.of(results, now, leaseUntil);
    const answers = await this.#database.transaction(storing.statements, REPEATABLE);
    const { emptied, heads, endpoints } = storing.read(answers);
    const isLow = runningLow(now, leaseUntil);
    const renewed = (lease: LaneLease): LaneLease => (isLow(lease) ? { ...lease, until: leaseUntil } : lease);
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

  /** Gives lanes back without a result; leases that ended already are ignored. */
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
    return active.flatMap(({ webhook_id: webhookId, first_at, retry_at: retryAt, lease_ends_at, ...row }) => {
      const [firstAttemptAt = null] = [first_at, lease_ends_at].filter((at) => at !== null).sort();
      if (firstAttemptAt === null && retryAt === null) return [];
      return [{ webhookId, firstAttemptAt, retryAt, changedAt: row.updated_at }];
    });
  }

  findEvent(applicationId: string, eventId: string) {
    return findEvent(this.#database, applicationId, eventId);
  }

  /** One attempt more, outside the order, due at once; creates the delivery where a subscription has none, and its event likewise. */
  redeliver(event: WebhookEvent, webhookIds: readonly string[], now: string): Promise<readonly Redelivery[]> {
    return redeliver(this.#database, this.#enqueue, { event, webhookIds, now });
  }

  /** What waits less stays as it is. @param seen otherwise only subscriptions whose newest moment lies ahead of `now` */
  planAnew(longest: LongestWaits, now: string, seen: boolean): Promise<number> {
    return planAnew(this.#database, longest, now, seen);
  }

  /** One small step of the removal of what is old or belongs to a removed subscription; 0 when nothing is left to do. */
  cleanUp(retention: Retention): Promise<number> {
    return cleanUp(this.#database, retention);
  }
}
