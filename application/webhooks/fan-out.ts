import { DomainError } from '../../domain/shared/domain-error.ts';
import type { RealClock } from '../ports/clock.ts';
import type { DeliveryQueue, PlannedDelivery } from '../ports/delivery-queue.ts';
import type { ConsumerProgress, PublicEvent } from '../ports/event-bus.ts';
import type { WebhookMetrics } from '../ports/observation.ts';
import type { WebhookSubscription, WebhookSubscriptions } from '../ports/webhook-subscriptions.ts';
import { ALL_EVENTS, EVENT_NAMES } from '../publishing/event-names.ts';
import type { RequestContext } from '../ports/clients.ts';

type Filters = Pick<WebhookSubscription, 'applicationId' | 'events' | 'fundIds'>;
type Subject = Pick<PublicEvent, 'applicationId' | 'name'> & { readonly fundId: string | null };

/** True when the subscription asks for events like this one. */
export const wants = (subscription: Filters, event: Subject): boolean =>
  subscription.applicationId === event.applicationId &&
  (subscription.events.includes(ALL_EVENTS) || subscription.events.includes(event.name)) &&
  (subscription.fundIds === null || (event.fundId !== null && subscription.fundIds.includes(event.fundId)));

const known: ReadonlySet<string> = new Set([ALL_EVENTS, ...EVENT_NAMES]);

/** @throws DomainError `invalid_event` */
export const checkedEvents = (events: readonly string[]): readonly string[] => {
  if (events.length === 0) throw new DomainError('invalid_event', 'events: name at least one event, or "*"');
  const unknown = events.flatMap((name, index) => (known.has(name) ? [] : [{ name, index }]));
  if (unknown.length > 0) {
    const details = unknown.map(({ index }) => ({
      field: `events[${index}]`,
      code: 'unknown_event',
      message: 'no event of the catalogue has this name',
    }));
    throw new DomainError(
      'invalid_event',
      `events: ${unknown.length} of ${events.length} do not exist`,
      details,
    );
  }
  return [...new Set(events)];
};

/** @throws DomainError `validation_error` for an empty list, `fund_not_allowed` for a fund that is not the application's */
export const checkedFunds = (
  context: RequestContext,
  fundIds: readonly string[] | null | undefined,
): readonly string[] | null => {
  if (fundIds === undefined || fundIds === null) return null;
  if (fundIds.length === 0) {
    const message = 'name at least one fund, or leave the field out for all of them';
    throw new DomainError('validation_error', `fund_ids: ${message}`, [
      { field: 'fund_ids', code: 'empty', message },
    ]);
  }
  const wanted = [...new Set(fundIds.map((id) => id.toLowerCase()))];
  if (!wanted.every((id) => context.fundIds.includes(id))) {
    throw new DomainError(
      'fund_not_allowed',
      'fund_ids: not all of these funds are linked to this application',
    );
  }
  return wanted;
};

/** Consumer group on the event bus. */
export const FAN_OUT_GROUP = 'webhooks';

interface Dependencies {
  readonly subscriptions: WebhookSubscriptions;
  readonly queue: DeliveryQueue;
  readonly clock: RealClock;
  readonly metrics?: WebhookMetrics | undefined;
  /** Told which subscriptions have something new, after it is durable. */
  readonly dispatcher: { wake(webhookIds: readonly string[]): void };
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
    const { subscriptions, queue, clock, metrics, dispatcher } = this.#deps;
    const applications = [...new Set(events.map((event) => event.applicationId))];
    const subscribed = Map.groupBy(
      await subscriptions.ofApplications(applications),
      (one) => one.applicationId,
    );
    const planned = events.flatMap((event) => this.#plan(event, subscribed.get(event.applicationId) ?? []));
    if (planned.length === 0 && !progress) return;
    const queued = await queue.enqueue(planned, clock.realNow(), progress);
    metrics?.queued(queued);
    dispatcher.wake([...new Set(planned.map(({ webhookId }) => webhookId))]);
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
