import type { AttemptWatch, WebhookMetrics } from '../../application/ports/observation.ts';
import type { RealClock } from '../../application/ports/clock.ts';
import type { DeliveryQueue } from '../../application/ports/delivery-queue.ts';
import type { EventBus } from '../../application/ports/event-bus.ts';
import type { Logger } from '../../application/ports/logger.ts';
import type { Sealer, WebhookSubscriptions } from '../../application/ports/webhook-subscriptions.ts';
import { FAN_OUT_GROUP, WebhookFanOut } from '../../application/webhooks/fan-out.ts';
import type { RetrySchedule } from '../../application/webhooks/retry-schedule.ts';
import type { DnsAddressGuard } from './addresses/address-guard.ts';
import { dispatchSettings } from './dispatch/dispatch-settings.ts';
import type { DispatchSettings } from './dispatch/dispatch-settings.ts';
import { WebhookDispatcher } from './dispatch/dispatcher.ts';
import type { DispatcherStatus } from './dispatch/dispatcher.ts';
import { DEFAULT_RETENTION, RetentionSweeper } from './retention-sweeper.ts';
import type { LeasePlace, RetentionSettings } from './retention-sweeper.ts';
import { HttpsSender } from './sending/https-sender.ts';
import { WebhookSecrets } from './sending/webhook-sender.ts';
import { webhookTrust } from './sending/pinned-connector.ts';

export interface WebhookWorkerOptions {
  readonly queue: DeliveryQueue;
  readonly subscriptions: WebhookSubscriptions;
  readonly bus: EventBus;
  readonly guard: DnsAddressGuard;
  readonly sealer: Sealer;
  readonly clock: RealClock;
  /** The same clock in milliseconds since 1970, asked several times a delivery; default `Date.now`. */
  readonly now?: () => number;
  readonly logger: Logger;
  /** Gaps between attempts, milliseconds. */
  readonly schedule: RetrySchedule;
  /** Whole attempt, milliseconds. */
  readonly timeoutMs: number;
  /** PEM of authorities to trust beside the public ones. */
  readonly extraRoots?: string | undefined;
  readonly metrics?: WebhookMetrics | undefined;
  readonly attempts?: AttemptWatch | undefined;
  readonly retention?: RetentionSettings;
  /** Where several processes send: one of them removes what is old at a time. */
  readonly retentionLease?: LeasePlace;
  /** Other limits than those that follow from the schedule and the time-out. */
  readonly limits?: Partial<DispatchSettings>;
  /** How far the clocks of the processes may be apart; default 0, for one process. */
  readonly clockToleranceMs?: number;
}

/** Everything that sends webhooks: takes events off the bus, works the lanes, removes what is old. */
export class WebhookWorker {
  readonly #bus: EventBus;
  readonly #fanOut: WebhookFanOut;
  readonly #dispatcher: WebhookDispatcher;
  readonly #sweeper: RetentionSweeper;
  #started = false;

  constructor(options: WebhookWorkerOptions) {
    const { queue, subscriptions, bus, guard, sealer, clock, logger, schedule, timeoutMs } = options;
    const {
      metrics,
      attempts,
      now = Date.now,
      retention = DEFAULT_RETENTION,
      clockToleranceMs = 0,
    } = options;
    const sender = new HttpsSender({ guard, trust: webhookTrust(options.extraRoots), timeoutMs, now });
    const settings = { ...dispatchSettings(schedule, timeoutMs), ...options.limits };
    const keys = new WebhookSecrets(sealer);
    this.#bus = bus;
    this.#dispatcher = new WebhookDispatcher({
      queue,
      sender,
      keys,
      metrics,
      logger,
      now,
      settings,
      attempts,
    });
    this.#sweeper = new RetentionSweeper({
      queue,
      logger,
      now,
      retention,
      lease: options.retentionLease,
    });
    this.#fanOut = new WebhookFanOut({
      subscriptions,
      queue,
      clock,
      metrics,
      clockToleranceMs,
      dispatcher: this.#dispatcher,
    });
  }

  /** Once in the life of the object. */
  async start(): Promise<void> {
    if (this.#started) return;
    this.#started = true;
    this.#dispatcher.start();
    this.#sweeper.start();
    await this.#bus.consume(FAN_OUT_GROUP, this.#fanOut.handle.bind(this.#fanOut));
  }

  /** Something was queued for these subscriptions; of no effect in a process that sends no webhooks. */
  wake(webhookIds: readonly string[]): void {
    this.#dispatcher.wake(webhookIds);
  }

  status(): DispatcherStatus {
    return this.#dispatcher.status();
  }

  /** Attempts under way may finish for so long; what is cut off then is sent again after the next start. */
  async stop(graceMs: number): Promise<void> {
    await Promise.all([this.#sweeper.stop(), this.#dispatcher.stop(graceMs)]);
  }
}
