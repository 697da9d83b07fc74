import { DomainError } from '../../domain/shared/domain-error.ts';
import type { RealClock } from '../ports/clock.ts';
import type { DeliveryQueue } from './queue/delivery-queue.ts';
import type { PublicEvent } from '../ports/event-bus.ts';
import type { Progress } from '../processors/consumer-offsets.ts';
import type { PublicationWatch, WebhookMetrics } from '../ports/observation.ts';
import type { LogOrder } from '../ports/read-models.ts';
import type { WebhookSubscription, WebhookSubscriptions } from './subscriptions.ts';
import { ALL_EVENTS, EVENT_NAMES } from '../publication/catalogue.ts';
import type { RequestContext } from '../command-handling/request-context.ts';
import { MOST_VIOLATIONS } from '../schemas/document-validators.ts';

type Filters = Pick<WebhookSubscription, 'applicationId' | 'events' | 'fundIds'>;
type Subject = Pick<PublicEvent, 'applicationId' | 'name'> & { readonly fundId: string | null };

export const wants = (subscription: Filters, event: Subject): boolean =>
  subscription.applicationId === event.applicationId &&
  (subscription.events.includes(ALL_EVENTS) || subscription.events.includes(event.name)) &&
  (subscription.fundIds === null || (event.fundId !== null && subscription.fundIds.includes(event.fundId)));

/** By places in the log, since clocks are set; by times only where a place is missing, or another engine's. */
const precedes = (
  { position, timestamp }: Pick<PublicEvent, 'position' | 'timestamp'>,
  { beginsAt, eventsFrom }: Pick<WebhookSubscription, 'beginsAt' | 'eventsFrom'>,
  { order, clockToleranceMs }: Pick<Dependencies, 'order' | 'clockToleranceMs'>,
): boolean => {
  if (position !== undefined && beginsAt !== null && order.comparable(position, beginsAt))
    return order.compare(position, beginsAt) <= 0;
  if (clockToleranceMs === 0) return timestamp < eventsFrom;
  return Date.parse(timestamp) < Date.parse(eventsFrom) - clockToleranceMs;
};

const known: ReadonlySet<string> = new Set([ALL_EVENTS, ...EVENT_NAMES]);

/** @throws DomainError `invalid_event` */
export const checkedEvents = (events: readonly string[]): readonly string[] => {
  if (events.length === 0) throw noSuchEvents('name at least one event, or "*"');
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
  const distinct = [...new Set(events)];
  if (distinct.length > 1 && distinct.includes(ALL_EVENTS))
    throw noSuchEvents('"*" stands alone, because it covers every other event; send ["*"], or name events');
  return distinct;
};

const noSuchEvents = (message: string): DomainError =>
  new DomainError('invalid_event', `events: ${message}`, [
    { field: 'events', code: 'invalid_event', message },
  ]);

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
  const details = fundIds.flatMap((id, i) =>
    context.fundIds.includes(id.toLowerCase())
      ? []
      : [{ field: `fund_ids[${i}]`, code: 'fund_not_allowed', message: 'is not linked to this application' }],
  );
  if (details.length > 0) {
    const message = 'fund_ids: not all of these funds are linked to this application; send its own alone';
    throw new DomainError('fund_not_allowed', message, details.slice(0, MOST_VIOLATIONS));
  }
  return wanted;
};

export const FAN_OUT_GROUP = 'webhooks';

interface Dependencies {
  readonly order: Pick<LogOrder, 'compare' | 'comparable'>;
  /** How far the clocks of two processes may be apart; 0 with one process. */
  readonly clockToleranceMs: number;
  readonly subscriptions: WebhookSubscriptions;
  readonly queue: DeliveryQueue;
  readonly clock: RealClock;
  readonly metrics?: WebhookMetrics | undefined;
  readonly watch?: Pick<PublicationWatch, 'consumed'> | undefined;
  readonly onQueued?: (webhookIds: readonly string[]) => void;
}

/** Subscriptions are read for every batch: no cache could promise those of a moment ago. Queued once, however often. */
export const fanOutTo =
  (deps: Dependencies) =>
  async (events: readonly PublicEvent[], progress?: Progress): Promise<void | 'progress_stored'> => {
    const { subscriptions, queue, clock, metrics, onQueued, watch } = deps;
    const startedAt = Date.now();
    const applications = [...new Set(events.map((event) => event.applicationId))];
    const subscribed = Map.groupBy(
      await subscriptions.ofApplications(applications),
      (one) => one.applicationId,
    );
    const planned = events.flatMap((event) =>
      (subscribed.get(event.applicationId) ?? [])
        .filter((subscription) => wants(subscription, event) && !precedes(event, subscription, deps))
        .map(({ webhookId }) => ({ webhookId, event })),
    );
    const queued = await queue.enqueue(planned, clock.realNow(), progress);
    metrics?.queued(queued);
    watch?.consumed(FAN_OUT_GROUP, events, startedAt);
    if (planned.length > 0) onQueued?.([...new Set(planned.map(({ webhookId }) => webhookId))]);
    if (progress) return 'progress_stored';
  };
