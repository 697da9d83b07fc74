import type { PublicationWatch, WebhookMetrics } from '../../application/ports/observation.ts';
import type { AttemptWatch } from '../../application/webhooks/queue/result-statements.ts';
import type { RealClock } from '../../application/ports/clock.ts';
import type { DeliveryQueue } from '../../application/webhooks/queue/delivery-queue.ts';
import type { EventBus } from '../../application/ports/event-bus.ts';
import type { EventDelivery } from '../../application/processors/consumer-offsets.ts';
import type { Logger } from '../../application/ports/logger.ts';
import type { LogOrder } from '../../application/ports/read-models.ts';
import type { WebhookSubscriptions } from '../../application/webhooks/subscriptions.ts';
import type { RangeRedeliveries } from '../../application/webhooks/queue/range-redeliveries.ts';
import { FAN_OUT_GROUP, fanOutTo } from '../../application/webhooks/fan-out.ts';
import type { DnsAddressGuard } from './addresses/address-guard.ts';
import { dispatchSettings } from './dispatch/dispatch-settings.ts';
import type { DispatchSettings } from './dispatch/dispatch-settings.ts';
import { WebhookDispatcher } from './dispatch/dispatcher.ts';
import { RetentionSweeper } from './retention-sweeper.ts';
import type { LeasePlace } from './retention-sweeper.ts';
import { HttpsSender } from './sending/https-sender.ts';
import { WebhookSecrets } from './sending/webhook-sender.ts';
import type { OpenSecret } from './sending/webhook-sender.ts';
import { webhookTrust } from './sending/receiver-connections.ts';

interface Options {
  readonly ranges: RangeRedeliveries;
  readonly logger: Logger;
  /** UNIX time in milliseconds. */
  readonly now: () => number;
  /** There is something to send for these subscriptions. */
  readonly onQueued: (webhookIds: readonly string[]) => void;
  /** How often to look for what another process began, answered or left behind. */
  readonly lookEveryMs: number;
}

/**
 * Keeps redeliveries of a span of time going: whenever one of their attempts was answered here, and now and then. Any number of processes
 * may do this beside each other, and any of them goes on with what another has left.
 */
class RedeliveryFeeder {
  readonly #options: Options;
  #timer: NodeJS.Timeout | undefined;
  #feeding: Promise<void> | undefined;
  #takingOver: Promise<void> | undefined;
  /** Webhooks at which something may have changed. */
  #changed = new Set<string>();
  /** Time to look for what only others know. */
  #due = false;
  #stopped = true;
  /** How far those had come at the last look whose deliveries were still being selected. */
  #selecting: ReadonlyMap<string, number> = new Map();

  constructor(options: Options) {
    this.#options = options;
  }

  start(): void {
    this.#stopped = false;
    this.#look();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await Promise.all([this.#feeding, this.#takingOver]);
  }

  /** Something may have changed at these webhooks. */
  wake(webhookIds: readonly string[]): void {
    for (const webhookId of webhookIds) this.#changed.add(webhookId);
    this.#go();
  }

  #look(): void {
    this.#timer = setTimeout(() => this.#look(), this.#options.lookEveryMs);
    this.#due = true;
    this.#go();
  }

  #go(): void {
    if (!this.#stopped) this.#feeding ??= this.#feed();
  }

  async #feed(): Promise<void> {
    // Not before the promise is kept, which the last line lets go of.
    await Promise.resolve();
    while (!this.#stopped && (this.#due || this.#changed.size > 0)) {
      if (this.#due) await this.#noted(() => this.#lookAround());
      this.#due = false;
      const changed = this.#changed;
      this.#changed = new Set();
      // A step of each in turn, for as long as it changes something.
      for (const webhookId of changed) await this.#noted(() => this.#step(webhookId));
    }
    this.#feeding = undefined;
  }

  /** What fails is tried again at the next look, and holds up no other. */
  async #noted(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#options.logger.error({ err: error }, 'webhooks: a redelivery does not go on');
    }
  }

  async #step(webhookId: string): Promise<void> {
    const { ranges, onQueued } = this.#options;
    if (!(await ranges.step(webhookId, this.#instant()))) return;
    this.#changed.add(webhookId);
    onQueued([webhookId]);
  }

  /** Ends what runs for nobody any more, and selects for whoever stopped in the middle of it. */
  async #lookAround(): Promise<void> {
    const { ranges } = this.#options;
    const running = await ranges.running();
    for (const { webhook_id: webhookId } of running) this.#changed.add(webhookId);
    if (running.length > 0) await ranges.cancelRemoved(this.#instant());
    const selecting = running.filter(({ selected_to: at }) => at !== null);
    const before = this.#selecting;
    this.#selecting = new Map(selecting.map(({ redelivery_id: id, version }) => [id, version]));
    const left = selecting.filter(({ redelivery_id: id, version }) => before.get(id) === version);
    if (left.length > 0) this.#takingOver ??= this.#takeOver(left);
  }

  /** Beside the steps of others: there may be a million deliveries to select. */
  async #takeOver(left: Awaited<ReturnType<RangeRedeliveries['running']>>): Promise<void> {
    const { ranges } = this.#options;
    for (const { redelivery_id: id, webhook_id: webhookId } of left) {
      await this.#noted(async () => {
        while (!this.#stopped && (await ranges.selectSome(id, this.#instant())));
      });
      this.wake([webhookId]);
    }
    this.#takingOver = undefined;
  }

  #instant(): string {
    return new Date(this.#options.now()).toISOString();
  }
}

interface WebhookWorkerOptions {
  readonly queue: DeliveryQueue;
  readonly ranges: RangeRedeliveries;
  readonly subscriptions: WebhookSubscriptions;
  /** Undefined where `deliver` is called instead. */
  readonly bus: EventBus | undefined;
  readonly order: Pick<LogOrder, 'compare' | 'comparable'>;
  readonly guard: DnsAddressGuard;
  readonly openSecret: OpenSecret;
  readonly clock: RealClock;
  /** Real time in milliseconds since 1970, asked several times a delivery; default `Date.now`. */
  readonly now?: () => number;
  readonly logger: Logger;
  /** Gaps between attempts, milliseconds. */
  readonly schedule: DispatchSettings['schedule'];
  /** Whole attempt, milliseconds. */
  readonly timeoutMs: number;
  /** PEM of authorities to trust beside the public ones. */
  readonly extraRoots?: string | undefined;
  readonly metrics?: WebhookMetrics | undefined;
  readonly watch?: (AttemptWatch & Pick<PublicationWatch, 'consumed'>) | undefined;
  /** Where several processes send: one of them removes what is old at a time. */
  readonly retentionLease?: LeasePlace;
  /** Other limits than those that follow from the schedule and the time-out; none of these lets a lane have two workers. */
  readonly limits?: Partial<Pick<DispatchSettings, 'gatherMs' | 'lookEveryMs'>>;
  /** How far the clocks of the processes may be apart; default 0, for one process. */
  readonly clockToleranceMs?: number;
}

/** Everything that sends webhooks: takes events off the bus, works the lanes, removes what is old. */
export class WebhookWorker {
  /** Queues what these events give for the webhooks. */
  readonly deliver: EventDelivery;
  readonly #bus: EventBus | undefined;
  readonly #dispatcher: WebhookDispatcher;
  readonly #feeder: RedeliveryFeeder;
  readonly #sweeper: RetentionSweeper;
  #started = false;

  constructor(options: WebhookWorkerOptions) {
    const { bus, guard, schedule, timeoutMs, watch, now = Date.now, clockToleranceMs = 0 } = options;
    const sender = new HttpsSender({ guard, trust: webhookTrust(options.extraRoots), timeoutMs, now });
    const settings = { ...dispatchSettings(schedule, timeoutMs), ...options.limits };
    const keys = new WebhookSecrets(options.openSecret);
    const onQueued = (webhookIds: readonly string[]): void => this.#dispatcher.wake(webhookIds);
    this.#bus = bus;
    this.#dispatcher = new WebhookDispatcher({
      ...options,
      ...{ sender, keys, now, settings },
      attempts: watch,
      onRedelivered: (webhookId) => this.#feeder.wake([webhookId]),
    });
    this.#feeder = new RedeliveryFeeder({ ...options, now, onQueued, lookEveryMs: settings.lookEveryMs });
    this.#sweeper = new RetentionSweeper({ ...options, now, lease: options.retentionLease });
    this.deliver = fanOutTo({ ...options, clockToleranceMs, onQueued });
  }

  /** Once in the life of the object. */
  async start(): Promise<void> {
    if (this.#started) return;
    this.#started = true;
    this.#dispatcher.start();
    this.#feeder.start();
    this.#sweeper.start();
    await this.#bus?.consume(FAN_OUT_GROUP, this.deliver);
  }

  /** Somebody asked for something to be sent to these, or sent elsewhere; of no effect in a process that sends no webhooks. */
  wake(webhookIds: readonly string[]): void {
    this.#dispatcher.wake(webhookIds, true);
    this.#feeder.wake(webhookIds);
  }

  status(): ReturnType<WebhookDispatcher['status']> {
    return this.#dispatcher.status();
  }

  /** Attempts under way may finish for so long; what is cut off then is sent again after the next start. */
  async stop(graceMs: number): Promise<void> {
    await Promise.all([this.#sweeper.stop(), this.#feeder.stop(), this.#dispatcher.stop(graceMs)]);
  }
}
