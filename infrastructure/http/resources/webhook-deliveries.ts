import { DELIVERY_STATES } from '../../../application/webhooks/delivery-states.ts';
import type { DeliveryState } from '../../../application/webhooks/delivery-states.ts';
import type { AttemptRecord, DeliveryRecord } from '../../../application/webhooks/delivery-log.ts';
import type { EventReport as Report } from '../../../application/webhooks/deliveries.ts';
import { component, object, oneOf, ref, text } from '../../../application/schemas/schema.ts';
import {
  exampleOf,
  fieldsOf,
  named,
  shownComponent,
  namedList,
  shown,
} from '../../../application/schemas/shown-fields.ts';
import type { ShownFields } from '../../../application/schemas/shown-fields.ts';
import { Timestamp } from '../../../application/schemas/values.ts';
import { json } from '../openapi/operation.ts';
import { ok, endpoint } from '../operation.ts';
import type { Query } from '../requests/parameters.ts';
import { EXAMPLE } from '../../../application/schemas/example-values.ts';
import {
  EVENT_ID,
  eventIdOf,
  EXAMPLE_DELIVERY_ID,
  EXAMPLE_EVENT_ID,
  EXAMPLE_WEBHOOK_ID,
  TEXT_OR_NULL,
  TIMESTAMP_OR_NULL,
  WEBHOOK_ID,
  webhookIdOf,
} from './webhook.ts';

const ATTEMPT = fieldsOf<AttemptRecord>()({
  attempt: named({ type: 'integer', minimum: 1, description: 'Its number.' }, 1),
  at: named(ref(Timestamp), '2026-01-15T12:00:01.000Z'),
  duration_ms: named({ type: 'integer', minimum: 0, description: 'How long it took.' }, 250),
  response_status: named(
    { type: ['integer', 'null'], description: 'HTTP status; null when there was none.' },
    200,
  ),
  error: named({ ...TEXT_OR_NULL, description: 'Why it failed.' }, null),
});

/** With one item in the example. */
const listed = <Item>(description: string, fields: ShownFields<Item>) =>
  namedList(description, fields, [exampleOf(fields)]);

const ATTEMPTS = 'Every attempt, oldest first.';

const DELIVERY = fieldsOf<DeliveryRecord>()({
  delivery_id: named(
    text({ description: 'This event on its way to this subscription.' }),
    EXAMPLE_DELIVERY_ID,
  ),
  event_id: named(EVENT_ID, EXAMPLE_EVENT_ID),
  event: named(text({ description: 'Name of the event.' }), 'loan_received'),
  originator_proposal_code: shown(
    { ...TEXT_OR_NULL, description: 'The operation; null for a ping.' },
    ({ code }) => code,
    EXAMPLE.code,
  ),
  fund_id: named({ ...TEXT_OR_NULL, description: 'Its fund; null for a ping.' }, EXAMPLE.fundId),
  status: named(
    oneOf(DELIVERY_STATES, { description: '`failed` means that no attempt is left.' }),
    'delivered',
  ),
  attempts: named({ type: 'integer', minimum: 0, description: 'How many were made.' }, 1),
  created_at: named(ref(Timestamp), EXAMPLE.received),
  last_attempt_at: named(
    { ...TIMESTAMP_OR_NULL, description: 'null before the first attempt.' },
    '2026-01-15T12:00:01.000Z',
  ),
  next_attempt_at: named({ ...TIMESTAMP_OR_NULL, description: 'null when none is planned.' }, null),
  delivered_at: named(
    { ...TIMESTAMP_OR_NULL, description: 'When a receiver answered 2xx.' },
    '2026-01-15T12:00:01.250Z',
  ),
  last_response_status: named(
    { type: ['integer', 'null'], description: 'HTTP status of the last answer; null when there was none.' },
    200,
  ),
  last_error: named({ ...TEXT_OR_NULL, description: 'Why the last attempt failed.' }, null),
  attempt_log: listed(ATTEMPTS, ATTEMPT),
});
const Delivery = shownComponent('Delivery', DELIVERY);

type Reported = Report['deliveries'][number];

const REPORTED = fieldsOf<Reported>()({
  webhook_id: named(WEBHOOK_ID, EXAMPLE_WEBHOOK_ID),
  ...DELIVERY,
  attempt_log: listed(
    ATTEMPTS,
    fieldsOf<Reported['attemptLog'][number]>()({
      ...ATTEMPT,
      response_body: named(
        {
          ...TEXT_OR_NULL,
          description: 'The first 2 KiB of what the receiver answered; null when it answered nothing.',
        },
        '{"taken":true}',
      ),
    }),
  ),
});

const REPORT = fieldsOf<Report>()({
  event_id: named(EVENT_ID, EXAMPLE_EVENT_ID),
  event: named(text({ description: 'Name of the event.' }), 'loan_received'),
  body: named(
    text({ description: 'The bytes that are signed and sent, as text.' }),
    JSON.stringify({
      ...{
        event: 'loan_received',
        event_id: EXAMPLE_EVENT_ID,
        originator_proposal_code: EXAMPLE.code,
        fund_id: EXAMPLE.fundId,
      },
      ...{ timestamp: EXAMPLE.received, sequence: 0, api_version: '2026.11.5' },
      data: {
        status: 'received',
        received_at: EXAMPLE.received,
        acquisition_value: 1800,
        number_of_installments: 2,
      },
    }),
  ),
  deliveries: listed(
    'One for each subscription that it was queued for; none where nobody subscribed.',
    REPORTED,
  ),
});
const EventReport = shownComponent('EventReport', REPORT);

const DeliveryPage = component(
  'DeliveryPage',
  object({
    data: { type: 'array', items: ref(Delivery) },
    next_cursor: { ...TEXT_OR_NULL, description: 'Send it as `cursor` to get the next page.' },
  }),
);
const inputOf = (query: Query) => ({
  ...(query['status'] !== undefined && { status: query['status'] as DeliveryState }),
  ...(query['since'] !== undefined && { since: String(query['since']) }),
  ...(query['event'] !== undefined && { events: query['event'] as readonly string[] }),
  ...(query['originator_proposal_code'] !== undefined && { code: String(query['originator_proposal_code']) }),
  ...(query['event_id'] !== undefined && { eventId: String(query['event_id']).toLowerCase() }),
  limit: Number(query['limit']),
  ...(query['cursor'] !== undefined && { cursor: String(query['cursor']) }),
});

export const readEvent = endpoint({
  id: 'readEvent',
  request: 'GET /webhook/event/{event_id}',
  access: 'events',
  summary: 'Follow an event',
  description:
    'What was sent, byte for byte, and what became of it at each subscription: every attempt with the beginning of what the receiver answered.',
  parameters: ['EventId'],
  success: [json(200, 'The event.', EventReport)],
  errors: ['event_not_found'],
  answer: async ({ webhooks }, context, call) =>
    ok(EventReport.show(await webhooks.deliveries.event(context, eventIdOf(call)))),
});

export const listDeliveries = endpoint({
  id: 'listDeliveries',
  request: 'GET /webhook/{webhook_id}/deliveries',
  access: 'events',
  summary: 'List deliveries of a subscription',
  description:
    'Newest first, with every attempt that was made. Filters can be combined. A page with `event` or `since` may be short, or ' +
    'empty: only a `next_cursor` that is null ends the list.',
  parameters: [
    ...['WebhookId', 'DeliveryStatus', 'Since', 'DeliveredEvents', 'DeliveredCode', 'DeliveredEventId'],
    ...['Limit', 'Cursor'],
  ],
  success: [json(200, 'One page.', DeliveryPage, { data: [Delivery.example], next_cursor: null })],
  errors: ['invalid_query_parameter', 'webhook_not_found'],
  answer: async ({ webhooks }, context, call) => {
    const page = await webhooks.deliveries.page(context, webhookIdOf(call), inputOf(call.query));
    return ok({ data: page.deliveries.map(Delivery.show), next_cursor: page.nextCursor });
  },
});
