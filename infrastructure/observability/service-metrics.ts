import { Registry, collectDefaultMetrics, AggregatorRegistry } from 'prom-client';
import type { Counter, Gauge } from 'prom-client';
import type { Refused } from '../../application/desk/sign-in.ts';
import type { BusinessClock } from '../../application/ports/clock.ts';
import type {
  EventSubscription,
  LogPosition,
  SubscribeOptions,
  SubscriptionMessage,
} from '../../application/ports/event-store.ts';
import {
  instrumentsIn,
  busMetrics,
  storeMetrics,
  commandMetrics,
  requestMetrics,
  webhookMetrics,
  workMetrics,
} from './metrics/instruments.ts';
import { lookedUpGauges } from './metrics/looked-up.ts';
import type { LookedUp } from './metrics/looked-up.ts';
import { within } from '../support/time.ts';

/** The numbers of one registry as plain data, as prom-client exchanges them between processes. */
export type MetricValues = Awaited<ReturnType<Registry['getMetricsAsJSON']>>[number];

/** Counts add up; of a gauge that both report, the first one's value counts, because it is the same thing looked at twice. */
const combined = (metric: MetricValues): MetricValues =>
  String(metric.type) === 'gauge' ? { ...metric, aggregator: 'first' } : metric;

/** One text for what several threads of a process have counted. */
const mergedText = (parts: readonly (readonly MetricValues[])[]): Promise<string> =>
  AggregatorRegistry.aggregate(parts.map((part) => part.map(combined))).metrics();

/** Numbers that are looked up elsewhere are at most this old, however often the metrics are scraped. */
const REFRESH_EVERY_MS = 2_000;
/** A store that hangs must not take the other numbers with it. */
const REFRESH_WITHIN_MS = 2_500;
/** Nor a thread that has ended meanwhile, or has no time; it may have to wait for a store itself. */
const ANSWER_WITHIN_MS = 2 * REFRESH_WITHIN_MS;

/** The text that Prometheus reads, with the looked-up numbers brought up to date before. */
export class Scrape {
  readonly contentType: string;
  readonly #registry: Registry;
  readonly #refreshers: readonly (() => Promise<void>)[];
  #refreshed: Promise<void> = Promise.resolve();
  #refreshedAt = -Infinity;

  /** Refreshers may fail: then their numbers are missing or old. */
  constructor(registry: Registry, refreshers: readonly (() => Promise<void>)[]) {
    this.#registry = registry;
    this.#refreshers = refreshers;
    this.contentType = registry.contentType;
  }

  /** With what others beside this registry have counted. */
  async text(beside?: Promise<readonly MetricValues[]>): Promise<string> {
    const asked = beside && within(ANSWER_WITHIN_MS, 'another thread', beside).catch(() => undefined);
    const [others] = await Promise.all([asked, this.#bringUpToDate()]);
    return others ? mergedText([await this.#registry.getMetricsAsJSON(), others]) : this.#registry.metrics();
  }

  /** All values as plain data, which can travel to another thread. */
  async values(): Promise<readonly MetricValues[]> {
    await this.#bringUpToDate();
    return this.#registry.getMetricsAsJSON();
  }

  async #bringUpToDate(): Promise<void> {
    const now = performance.now();
    if (now - this.#refreshedAt >= REFRESH_EVERY_MS) {
      this.#refreshedAt = now;
      this.#refreshed = this.#refresh();
    }
    await this.#refreshed;
  }

  async #refresh(): Promise<void> {
    const all = Promise.allSettled(this.#refreshers.map((refresh) => refresh()));
    await within(REFRESH_WITHIN_MS, 'looking numbers up', all).catch(() => undefined);
  }
}

interface Lag {
  readonly seconds: number;
  /** At most one batch is looked at, so this is the least number. */
  readonly events: number;
}

/** Longer than the silence from which a reader of an older EventStoreDB tells that it has seen all. */
const PROBE_MS = 3_000;
const PROBE_EVENTS = 500;
const NO_LAG: Lag = { seconds: 0, events: 0 };

/** Events are recorded in business time. */
const lagOf = (
  events: readonly { readonly metadata: { readonly recordedAt: string } }[],
  clock: Pick<BusinessClock, 'now'>,
): Lag => {
  const [oldest] = events;
  if (!oldest) return NO_LAG;
  const seconds = Math.max(0, Date.parse(clock.now()) - Date.parse(oldest.metadata.recordedAt)) / 1_000;
  return { seconds, events: events.length };
};

/**
 * One follower of the log, watched from outside: it lags behind by the events that it was handed and has not finished. When it
 * has nothing in hand, a look at the log beside it tells whether there is really nothing left.
 */
class Follower {
  readonly #subscription: EventSubscription;
  readonly #clock: Pick<BusinessClock, 'now'>;
  readonly #handled: (events: number) => void;
  #inHand: SubscriptionMessage | undefined;
  #following: SubscribeOptions | undefined;
  #position: LogPosition | 'start' = 'start';
  /** When the log last told it something, by a clock that does not stand still in a sandbox. */
  #heardAt = 0;

  constructor(
    subscription: EventSubscription,
    clock: Pick<BusinessClock, 'now'>,
    handled: (events: number) => void,
  ) {
    this.#subscription = subscription;
    this.#clock = clock;
    this.#handled = handled;
  }

  async *follow(options: SubscribeOptions): AsyncGenerator<SubscriptionMessage> {
    // One that comes back after a failure has been waiting since before that.
    if (!this.#following) this.#heardAt = performance.now();
    this.#following = options;
    this.#position = options.from;
    try {
      for await (const message of this.#subscription.subscribe(options)) {
        this.#inHand = message;
        this.#heardAt = performance.now();
        yield message;
        this.#done(message);
      }
    } finally {
      // A follower that breaks off without its signal comes back for the same events: until then they wait.
      if (options.signal.aborted) {
        this.#following = undefined;
        this.#inHand = undefined;
      }
    }
  }

  #done(message: SubscriptionMessage): void {
    this.#inHand = undefined;
    if (message.kind === 'caught_up') return;
    this.#position = message.checkpoint;
    if (message.kind === 'events') this.#handled(message.events.length);
  }

  /**
   * Undefined when it does not run here. Where the log does not answer, it may be behind by as long as nothing was heard of it: without a
   * number a follower that can never work would look like one that has nothing to do.
   */
  async lag(): Promise<Lag | undefined> {
    if (!this.#following) return undefined;
    if (this.#inHand?.kind === 'events') return lagOf(this.#inHand.events, this.#clock);
    const known = await this.#probe(this.#following).catch(() => undefined);
    if (known) this.#heardAt = performance.now();
    return known ?? { seconds: (performance.now() - this.#heardAt) / 1_000, events: 0 };
  }

  async #probe({ streamPrefix }: SubscribeOptions): Promise<Lag | undefined> {
    const signal = AbortSignal.timeout(PROBE_MS);
    const messages = this.#subscription.subscribe({
      from: this.#position,
      batchSize: PROBE_EVENTS,
      signal,
      ...(streamPrefix !== undefined && { streamPrefix }),
    });
    for await (const message of messages) {
      if (message.kind === 'events') return lagOf(message.events, this.#clock);
      if (message.kind === 'caught_up') return NO_LAG;
    }
    return undefined;
  }
}

/** Lag and progress of everything in this process that follows the log. */
class Followers {
  readonly #clock: Pick<BusinessClock, 'now'>;
  readonly #followers = new Map<string, Follower>();
  readonly #handled: Counter<'follower'>;
  readonly #seconds: Gauge<'follower'>;
  readonly #events: Gauge<'follower'>;

  constructor(registry: Registry, clock: Pick<BusinessClock, 'now'>) {
    this.#clock = clock;
    const { counter, gauge } = instrumentsIn(registry);
    this.#handled = counter(
      'receivables_follower_events_total',
      'Events of the log that a follower has dealt with.',
      'follower',
    );
    this.#seconds = gauge(
      'receivables_follower_lag_seconds',
      'Age of the oldest event that a follower has still to deal with; 0 when there is none. While the log cannot be read: since when.',
      'follower',
    );
    this.#events = gauge(
      'receivables_follower_lag_events',
      'Events that wait for a follower; more than a batch is not counted.',
      'follower',
    );
  }

  watch(name: string, subscription: EventSubscription): EventSubscription {
    const follower = new Follower(subscription, this.#clock, (events) =>
      this.#handled.inc({ follower: name }, events),
    );
    this.#followers.set(name, follower);
    return { subscribe: (options) => follower.follow(options) };
  }

  /** To be called before the numbers are read. */
  async refresh(): Promise<void> {
    const lags = await Promise.all(
      [...this.#followers].map(async ([name, follower]) => [name, await follower.lag()] as const),
    );
    this.#seconds.reset();
    this.#events.reset();
    for (const [follower, lag] of lags) {
      if (!lag) continue;
      this.#seconds.set({ follower }, lag.seconds);
      this.#events.set({ follower }, lag.events);
    }
  }
}

/** A sample is a wake-up: the default of 10 ms alone takes half a percent of a core from an idle service. The delays shown include it. */
const EVENT_LOOP_SAMPLE_MS = 50;

interface About {
  readonly version: string;
  readonly environment: string;
  readonly roles: string;
}

/** Everything that this process, or a thread of it, counts, in a registry of its own. */
export class ServiceMetrics {
  readonly registry = new Registry();
  readonly requests = requestMetrics(this.registry);
  readonly commands = commandMetrics(this.registry);
  readonly stores = storeMetrics(this.registry);
  readonly webhooks = webhookMetrics(this.registry);
  readonly work = workMetrics(this.registry);
  readonly bus = busMetrics(this.registry);
  readonly followers: Followers;
  readonly #clock: Pick<BusinessClock, 'now'>;

  /** @param about undefined in a thread beside the one that counts for the process */
  constructor(about: About | undefined, clock: Pick<BusinessClock, 'now'>) {
    this.#clock = clock;
    this.followers = new Followers(this.registry, clock);
    if (!about) return;
    collectDefaultMetrics({ register: this.registry, eventLoopMonitoringPrecision: EVENT_LOOP_SAMPLE_MS });
    const { gauge } = instrumentsIn(this.registry);
    const help = 'Always 1; its labels say what runs here.';
    gauge('receivables_info', help, 'version', 'environment', 'roles').set({ ...about }, 1);
  }

  scrape(sources: LookedUp): Scrape {
    return new Scrape(this.registry, [
      () => this.followers.refresh(),
      ...lookedUpGauges(this.registry, sources, this.#clock),
    ]);
  }
}

/** What the process of a console counts. It is no process of the service, so nothing here says that one runs. */
export const consoleMetrics = () => {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: EVENT_LOOP_SAMPLE_MS });
  const refused = instrumentsIn(registry).counter(
    'receivables_console_refused_sign_ins_total',
    'People who were not let in at the console, or whose session the provider ended.',
    'when',
  );
  // Shown before the first one comes: an alert sees it rise from nought.
  for (const when of ['sign_in', 'session'] as const) refused.inc({ when }, 0);
  return {
    contentType: registry.contentType,
    refused: (when: Refused): void => refused.inc({ when }),
    text: () => registry.metrics(),
  };
};
