import { ALL_EVENTS } from '../publishing/event-names.ts';
import type { PublicEvent } from '../ports/event-bus.ts';
import type { WebhookSubscription } from '../ports/webhook-subscriptions.ts';

type Filters = Pick<WebhookSubscription, 'applicationId' | 'events' | 'fundIds'>;
type Subject = Pick<PublicEvent, 'applicationId' | 'name'> & { readonly fundId: string | null };

/** True when the subscription asks for events like this one. */
export const wants = (subscription: Filters, event: Subject): boolean =>
  subscription.applicationId === event.applicationId &&
  (subscription.events.includes(ALL_EVENTS) || subscription.events.includes(event.name)) &&
  (subscription.fundIds === null || (event.fundId !== null && subscription.fundIds.includes(event.fundId)));
