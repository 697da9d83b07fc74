import type { RealClock } from '../ports/clock.ts';
import type { ConsumerProgress, PublicEvent } from '../ports/event-bus.ts';
import type { DeliveryQueue, PlannedDelivery } from '../ports/delivery-queue.ts';
import type { WebhookMetrics } from '../ports/observation.ts';
import type { WebhookSubscription, WebhookSubscriptions } from '../ports/webhook-subscriptions.ts';
import { wants } from './subscription-rules.ts';

/** Consumer group on the event bus. */
export const FAN_OUT_GROUP = 'webhooks';

interface Dependencies {
  readonly subscriptions: WebhookSubscriptions;
  readonly queue: DeliveryQueue;
  readonly clock: RealClock;
  readonly metrics: WebhookMetrics;
  /** Told which subscriptions have something new, after it is durable. */
  readonly onQueued: (webhookIds: readonly string[]) => void;
  /** How far the clocks of two processes may be apart; 0 with one process. */
  readonly clockToleranceMs: number;
}

/**
 * Turns public events into deliveries. Subscriptions are read for every batch, after its events were appended: a caller that
 * subscribed before is in there, which no cache could promise. A batch that comes twice is queued once.
 */
export class WebhookFanOut {
  readonly #deps: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#deps = dependencies;
  }

  async handle(
    events: readonly PublicEvent[],
    progress?: ConsumerProgress,
  ): Promise<void | 'progress_stored'> {
    const { subscriptions, queue, clock, metrics, onQueued } = this.#deps;
    const applications = [...new Set(events.map((event) => event.applicationId))];
    const subscribed = Map.groupBy(
      await subscriptions.ofApplications(applications),
      (one) => one.applicationId,
    );
    const planned = events.flatMap((event) => this.#plan(event, subscribed.get(event.applicationId) ?? []));
    if (planned.length === 0 && !progress) return;
    metrics.queued(await queue.enqueue(planned, clock.realNow(), progress));
    onQueued([...new Set(planned.map(({ webhookId }) => webhookId))]);
    if (progress) return 'progress_stored';
  }

  #plan(event: PublicEvent, subscribed: readonly WebhookSubscription[]): PlannedDelivery[] {
    return subscribed
      .filter((subscription) => wants(subscription, event) && !this.#precedes(event, subscription))
      .map(({ webhookId }) => ({ webhookId, event }));
  }

  #precedes(event: PublicEvent, { eventsFrom }: WebhookSubscription): boolean {
    const { clockToleranceMs } = this.#deps;
    if (clockToleranceMs === 0) return event.timestamp < eventsFrom;
    return Date.parse(event.timestamp) < Date.parse(eventsFrom) - clockToleranceMs;
  }
}
