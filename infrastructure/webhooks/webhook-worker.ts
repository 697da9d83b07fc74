import type { PublicationWatch, WebhookMetrics } from '../../application/ports/observation.ts';
import type { AttemptWatch } from '../../application/webhooks/queue/ended-deliveries.ts';
import type { RealClock } from '../../application/ports/clock.ts';
import type { DeliveryQueue } from '../../application/webhooks/queue/delivery-queue.ts';
import type { EventBus, EventDelivery } from '../../application/ports/event-bus.ts';
import type { Logger } from '../../application/ports/logger.ts';
import type { LogOrder } from '../../application/ports/read-models.ts';
import type { WebhookSubscriptions } from '../../application/webhooks/subscriptions.ts';
import type { RangeRedeliveries } from '../../application/webhooks/queue/range-redeliveries.ts';
import { FAN_OUT_GROUP, fanOutTo } from '../../application/webhooks/fan-out.ts';
import type { DnsAddressGuard } from './addresses/address-guard.ts';
import { dispatchSettings } from './dispatch/dispatch-settings.ts';
import type { DispatchSettings } from './dispatch/dispatch-settings.ts';
import { WebhookDispatcher } from './dispatch/dispatcher.ts';
import { RedeliveryFeeder } from './redelivery-feeder.ts';
import { RetentionSweeper } from './retention-sweeper.ts';
import type { LeasePlace } from './retention-sweeper.ts';
import { HttpsSender } from './sending/https-sender.ts';
import { WebhookSecrets } from './sending/webhook-sender.ts';
import type { OpenSecret } from './sending/webhook-sender.ts';
import { webhookTrust } from './sending/pinned-connector.ts';

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
  /** Other limits than those that follow from the schedule and the time-out. */
  readonly limits?: Partial<DispatchSettings>;
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
    this.#dispatcher.wake(webhookIds, 'seen to');
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
