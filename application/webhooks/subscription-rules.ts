import { DomainError } from '../../domain/shared/domain-error.ts';
import type { PublicEvent } from '../ports/event-bus.ts';
import type { WebhookSubscription } from '../ports/webhook-subscriptions.ts';
import { ALL_EVENTS, EVENT_NAMES } from '../publishing/event-names.ts';
import type { RequestContext } from '../request-context.ts';

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
