import { LogWalk } from '../audit/log-walk.ts';
import { ownerOf } from '../command-handling/operation.ts';
import { UnreadableEventError } from '../event-codec/fields.ts';
import { keptDeliveries } from './delivery-comparison.ts';
import type {
  ComparedDelivery,
  ComparedSubscription,
  DeliveryDifference,
  KeptDependencies,
} from './delivery-comparison.ts';
import type { DeliveryQueue } from './queue/delivery-queue.ts';
import type { PublicEvent } from '../ports/event-bus.ts';
import type { RelayQuarantine } from '../publication/relay.ts';
import type { EventSubscription, LogPosition, RecordedEvent } from '../ports/event-store.ts';
import type { LogOrder } from '../ports/read-models.ts';
import { instantOf } from '../schemas/values.ts';
import type { Pause } from '../support/retry.ts';
import { wants } from './fan-out.ts';
import { SurplusDeliveries } from './surplus-deliveries.ts';
import type { SurplusDependencies } from './surplus-deliveries.ts';

export interface VerificationDependencies extends KeptDependencies, SurplusDependencies {
  readonly order: Pick<LogOrder, 'compare' | 'comparable'>;
  readonly subscription: EventSubscription;
  readonly quarantine: Pick<RelayQuarantine, 'list'>;
  /** Up to where every event has been given to the subscriptions. @throws Error while messages wait on the bus for longer than is waited */
  readonly fannedOut: () => Promise<LogPosition | 'start'>;
  readonly queue: DeliveryQueue;
  readonly sleep: Pause;
  /** How far the clocks of two processes may be apart; 0 with one process. */
  readonly clockToleranceMs: number;
}

export interface VerifyDeliveriesRequest {
  /** Default: all. */
  readonly applicationId?: string;
  /** Only events with this timestamp or a later one, RFC 3339. */
  readonly since?: string;
  readonly repair: boolean;
}

export interface VerifyDeliveriesSummary {
  readonly webhooks: number;
  readonly events: number;
  readonly deliveries: number;
  readonly differences: number;
  readonly repaired: number;
  /** Events that this program cannot read, or that the relay holds back: they are no difference. */
  readonly heldBack: number;
}

type Found = Pick<DeliveryDifference, 'kind' | 'detail'> & {
  readonly subscription: ComparedSubscription;
  readonly event: PublicEvent;
  /** That it is said to be out of order with. */
  readonly before?: ComparedDelivery | undefined;
};

type Disorder = Pick<Found, 'detail' | 'before'>;

const MINUTE_MS = 60_000;

/** Reads only, unless it repairs. Answers the summary last. @throws DomainError `invalid_query_parameter` */
export async function* verifyDeliveries(
  dependencies: VerificationDependencies,
  request: VerifyDeliveriesRequest,
): AsyncGenerator<DeliveryDifference, VerifyDeliveriesSummary> {
  const { fannedOut, quarantine, comparison } = dependencies;
  const since = request.since === undefined ? undefined : instantOf('since', request.since);
  const kept = await keptDeliveries(dependencies);
  // In this order: everything up to the place was held back, or met the subscriptions, before these are read.
  const until = await fannedOut();
  const held = new Map((await quarantine.list()).map(({ stream, revision }) => [stream, revision]));
  const subscriptions = await comparison.subscriptions(request.applicationId);
  const run = new Run(dependencies, { request, since, kept, until, held, subscriptions });
  yield* run.missing();
  yield* run.surplus();
  return run.summary();
}

interface Scope {
  readonly request: VerifyDeliveriesRequest;
  readonly since: string | undefined;
  readonly kept: Awaited<ReturnType<typeof keptDeliveries>>;
  readonly until: LogPosition | 'start';
  readonly held: ReadonlyMap<string, bigint>;
  readonly subscriptions: readonly ComparedSubscription[];
}

class Run {
  readonly #deps: VerificationDependencies;
  readonly #scope: Scope;
  readonly #subscriptions: ReadonlyMap<string, readonly ComparedSubscription[]>;
  readonly #order: DeliveredOrder;
  readonly #surplus: SurplusDeliveries;
  readonly #counts = { events: 0, deliveries: 0, differences: 0, repaired: 0, heldBack: 0 };

  constructor(deps: VerificationDependencies, scope: Scope) {
    this.#deps = deps;
    this.#scope = scope;
    this.#subscriptions = Map.groupBy(scope.subscriptions, ({ applicationId }) => applicationId);
    this.#order = new DeliveredOrder(deps.clockToleranceMs);
    this.#surplus = new SurplusDeliveries(deps, scope.kept.since);
  }

  summary(): VerifyDeliveriesSummary {
    return { webhooks: this.#scope.subscriptions.length, ...this.#counts };
  }

  async *missing(): AsyncGenerator<DeliveryDifference> {
    if (this.#subscriptions.size === 0) return;
    const walk = new LogWalk(this.#deps, this.#scope.kept.from);
    for await (const events of walk.toTheEnd()) {
      const reached = events.filter(({ position }) => this.#isBehind(position) <= 0);
      yield* this.#settled(await this.#compare(reached));
      if (reached.length < events.length) return;
    }
  }

  #isBehind(position: LogPosition): number {
    return this.#deps.order.compare(position, this.#scope.until);
  }

  async *surplus(): AsyncGenerator<DeliveryDifference> {
    for (const { webhookId, applicationId } of this.#scope.subscriptions)
      for await (const found of this.#surplus.of(webhookId, applicationId)) {
        if (this.#isTooOld(found.timestamp)) continue;
        this.#counts.differences += 1;
        yield { ...found, webhookId, applicationId, repaired: false };
      }
  }

  #isTooOld(timestamp: string | null): boolean {
    const { since } = this.#scope;
    return since !== undefined && timestamp !== null && timestamp < since;
  }

  async #compare(recorded: readonly RecordedEvent[]): Promise<readonly Found[]> {
    const mine = recorded.filter(({ stream }) => this.#subscriptions.has(ownerOf(stream)));
    const published = await this.#published(mine);
    const ids = published.map(({ event }) => event.eventId);
    const deliveries = Map.groupBy(await this.#deps.comparison.ofEvents(ids), ({ eventId }) => eventId);
    return published.flatMap((one) => this.#compareOne(one, deliveries.get(one.event.eventId) ?? []));
  }

  #compareOne({ recorded, event }: Published, deliveries: readonly ComparedDelivery[]): readonly Found[] {
    const counted = this.#scope.kept.covers(recorded) && !this.#isTooOld(event.timestamp);
    if (counted) this.#counts.events += 1;
    return this.#subscriptions.get(event.applicationId)!.flatMap((subscription) => {
      const delivery = deliveries.find(({ webhookId }) => webhookId === subscription.webhookId);
      if (delivery) this.#surplus.meet(delivery);
      const disorder = delivery && this.#order.meet(event, delivery);
      if (!counted) return [];
      if (delivery) this.#counts.deliveries += 1;
      const found = (kind: DeliveryDifference['kind'], detail: string) => [
        { kind, detail, subscription, event },
      ];
      if (disorder) return [{ kind: 'out_of_order', ...disorder, subscription, event }];
      const wanted = wants(subscription, event);
      if (wanted === (delivery !== undefined) || !this.#isJudged(recorded, subscription)) return [];
      return wanted
        ? found('missing', 'the log has it, and this webhook has no delivery of it')
        : found('not_asked_for', 'this webhook asks for other events or other funds');
    });
  }

  #isJudged({ position, metadata }: RecordedEvent, { filterFrom, updatedAt }: ComparedSubscription): boolean {
    const { order, clock, realClock } = this.#deps;
    if (filterFrom !== null && order.comparable(position, filterFrom))
      return order.compare(position, filterFrom) > 0;
    // Only the time of the last change of any kind is known, and that is real time: the event is at least as young as this.
    const ahead = Math.max(0, Date.parse(clock.now()) - Date.parse(realClock.realNow()));
    return Date.parse(metadata.recordedAt) - ahead > Date.parse(updatedAt) + MINUTE_MS;
  }

  async #published(recorded: readonly RecordedEvent[]): Promise<readonly Published[]> {
    const { held } = this.#scope;
    const free = recorded.filter(({ stream, revision }) => {
      const heldFrom = held.get(stream);
      return heldFrom === undefined || revision < heldFrom;
    });
    this.#counts.heldBack += recorded.length - free.length;
    const published: Published[] = [];
    for (const one of free)
      try {
        for (const event of await this.#deps.translator.translate([one]))
          published.push({ recorded: one, event });
      } catch (error) {
        // Those are for `audit verify` to tell of.
        if (!(error instanceof UnreadableEventError)) throw error;
        this.#counts.heldBack += 1;
      }
    return published;
  }

  /** Subscriptions may have been changed or deleted while the log was read: what is left is told, and mended where that was asked for. */
  async *#settled(found: readonly Found[]): AsyncGenerator<DeliveryDifference> {
    if (found.length === 0) return;
    const { comparison } = this.#deps;
    const now = await comparison.subscriptions(this.#scope.request.applicationId);
    const present = new Map(now.map((one) => [one.webhookId, one]));
    for (const one of found) {
      const { kind, subscription, event } = one;
      const still = present.get(subscription.webhookId);
      if (!still || still.filterFrom !== subscription.filterFrom || !isSameChoice(still, subscription))
        continue;
      const detail = await this.#looked(one);
      if (detail === undefined) continue;
      this.#counts.differences += 1;
      const repaired = kind === 'missing' && (await this.#repair(event, still));
      if (repaired) this.#counts.repaired += 1;
      const paused = kind === 'missing' && still.status === 'paused' ? '; it is paused' : '';
      const { webhookId } = subscription;
      const { applicationId, eventId, name, code, sequence, timestamp } = event;
      const about = { applicationId, eventId, event: name, code, sequence, timestamp };
      yield { kind, webhookId, ...about, detail: `${detail}${paused}`, repaired };
    }
  }

  /** The one before it may have waited when it was read, and have gone out since: both are read again, at one moment. */
  async #looked({ detail, before, subscription, event }: Found): Promise<string | undefined> {
    if (!before) return detail;
    const read = await this.#deps.comparison.ofEvents([before.eventId, event.eventId]);
    const own = read.filter(({ webhookId }) => webhookId === subscription.webhookId);
    const [first, second] = [before, event].map(({ eventId }) => own.find((one) => one.eventId === eventId));
    return first && second && disorderOf(first, second, this.#deps.clockToleranceMs);
  }

  async #repair(event: PublicEvent, { webhookId, status }: ComparedSubscription): Promise<boolean> {
    if (!this.#scope.request.repair || status === 'paused') return false;
    const { queue, realClock } = this.#deps;
    await queue.redeliver(event, [webhookId], realClock.realNow());
    return true;
  }
}

/** Operations of which the last delivery is remembered: the longest not met goes first. */
const MOST_OPERATIONS = 100_000;

/** How a delivery stands to the one before it in its lane, told in a few words; undefined where nothing is wrong or can be said. */
const disorderOf = (
  before: ComparedDelivery,
  delivery: ComparedDelivery,
  clockToleranceMs: number,
): string | undefined => {
  if (before.waits && delivery.attempted)
    return `was sent while event ${before.eventId} still waits before it`;
  if (before.endedAt === null || delivery.endedAt === null) return undefined;
  return Date.parse(before.endedAt) - Date.parse(delivery.endedAt) > clockToleranceMs
    ? `ended at ${delivery.endedAt}, before event ${before.eventId} did`
    : undefined;
};

class DeliveredOrder {
  readonly #last = new Map<string, Map<string, ComparedDelivery>>();
  readonly #clockToleranceMs: number;

  constructor(clockToleranceMs: number) {
    this.#clockToleranceMs = clockToleranceMs;
  }

  meet(event: PublicEvent, delivery: ComparedDelivery): Disorder | undefined {
    if (delivery.sequence !== event.sequence)
      return { detail: `stands in its lane at ${delivery.sequence}, the event at ${event.sequence}` };
    const lanes = this.#lanesOf(`${event.applicationId}.${event.code}`);
    const before = lanes.get(delivery.webhookId);
    lanes.set(delivery.webhookId, delivery);
    const detail = before && disorderOf(before, delivery, this.#clockToleranceMs);
    return detail === undefined ? undefined : { detail, before };
  }

  #lanesOf(operation: string): Map<string, ComparedDelivery> {
    const lanes = this.#last.get(operation) ?? new Map<string, ComparedDelivery>();
    this.#last.delete(operation);
    this.#last.set(operation, lanes);
    if (this.#last.size > MOST_OPERATIONS) this.#last.delete(this.#last.keys().next().value!);
    return lanes;
  }
}

interface Published {
  readonly recorded: RecordedEvent;
  readonly event: PublicEvent;
}

const isSameChoice = (one: ComparedSubscription, other: ComparedSubscription): boolean =>
  JSON.stringify([one.events, one.fundIds]) === JSON.stringify([other.events, other.fundIds]);
