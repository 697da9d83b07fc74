import { eventExample } from '../../../application/publication/description/event-schemas.ts';
import type { LoanEventName } from '../../../application/publication/catalogue.ts';
import type { FeedPage, FeedQuery } from '../../../application/publication/feed.ts';
import { component, nullable, object, ref, text, oneOf } from '../../../application/schemas/schema.ts';
import { json } from '../openapi/operation.ts';
import { API_VERSION } from '../openapi/version.ts';
import type { Reply } from '../operation.ts';
import type { Query } from '../requests/parameters.ts';
import { endpoint, ok } from '../operation.ts';
import {
  EXAMPLE_EVENT_ID,
  EVENT_ID,
  eventIdOf,
  EXAMPLE_DELIVERY_ID,
  EXAMPLE_WEBHOOK_ID,
  TEXT_OR_NULL,
  TIMESTAMP_OR_NULL,
  WEBHOOK_ID,
  webhookIdOf,
} from './subscriptions.ts';
import { DELIVERY_STATES } from '../../../application/webhooks/delivery-states.ts';
import type { DeliveryState } from '../../../application/webhooks/delivery-states.ts';
import type { AttemptRecord, DeliveryRecord } from '../../../application/webhooks/delivery-log.ts';
import type { EventReport as Report } from '../../../application/webhooks/deliveries.ts';
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
import { EXAMPLE } from '../../../application/schemas/example-values.ts';

const EventPage = component(
  'EventPage',
  object({
    data: {
      type: 'array',
      description:
        'Bodies as webhooks post them, byte for byte, oldest first; the section `webhooks` has them one by one.',
      items: ref('EventEnvelope'),
    },
    next_after: nullable(
      text({
        description:
          'Send it as `after` to go on from here, now or later. It passes the events that your filters kept back. null while there is none to go on from.',
      }),
    ),
    has_more: {
      type: 'boolean',
      description: 'Whether more comes after this page; it may be short, or empty, and still have more.',
    },
  }),
);

const feedQueryOf = (query: Query): FeedQuery => ({
  ...(query['after'] !== undefined && { after: String(query['after']).toLowerCase() }),
  limit: Number(query['limit']),
  ...(query['event'] !== undefined && { names: query['event'] as readonly LoanEventName[] }),
  ...(query['fund_id'] !== undefined && { fundId: String(query['fund_id']).toLowerCase() }),
  ...(query['originator_proposal_code'] !== undefined && { code: String(query['originator_proposal_code']) }),
});

/** The bodies stand in the answer as they are: read and written again they would lose the decimals of their amounts. */
const pageReply = ({ events, nextAfter, hasMore }: FeedPage): Reply => {
  const bodies = events.map(({ body }) => body).join();
  const rest = JSON.stringify({ next_after: nextAfter, has_more: hasMore }).slice(1);
  return { status: 200, bytes: Buffer.from(`{"data":[${bodies}],${rest}`) };
};

export const listEvents = endpoint({
  id: 'listEvents',
  request: 'GET /event',
  access: 'events',
  summary: 'Read the events of the application',
  description:
    'Every event that there ever was, in the order in which they were recorded, with or without a webhook; pings are none. ' +
    'Keep `next_after` with what you did about the page, and ask from there: nothing is left out, whatever is written meanwhile. ' +
    'A page with filters may be short, or empty; only `has_more` says whether to go on.',
  parameters: ['FeedAfter', 'Limit', 'FeedEvents', 'FeedFund', 'FeedCode'],
  success: [
    json(200, 'One page.', EventPage, {
      data: [eventExample('loan_received', API_VERSION)],
      next_after: EXAMPLE_EVENT_ID,
      has_more: false,
    }),
  ],
  errors: ['invalid_query_parameter'],
  answer: async ({ publication }, context, { query }) =>
    pageReply(await publication.feed.page(context, feedQueryOf(query))),
});

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
const deliveriesQueryOf = (query: Query) => ({
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
    'Newest first, with every attempt that was made. Filters can be combined. A page with `event` or `since`, or for a client of some ' +
    'funds, may be short, or empty: only a `next_cursor` that is null ends the list.',
  parameters: [
    ...['WebhookId', 'DeliveryStatus', 'Since', 'DeliveredEvents', 'DeliveredCode', 'DeliveredEventId'],
    ...['Limit', 'Cursor'],
  ],
  success: [json(200, 'One page.', DeliveryPage, { data: [Delivery.example], next_cursor: null })],
  errors: ['invalid_query_parameter', 'webhook_not_found'],
  answer: async ({ webhooks }, context, call) => {
    const page = await webhooks.deliveries.page(context, webhookIdOf(call), deliveriesQueryOf(call.query));
    return ok({ data: page.deliveries.map(Delivery.show), next_cursor: page.nextCursor });
  },
});
