import { DELIVERY_STATES } from '../../../application/webhooks/delivery-log.ts';
import type {
  AttemptRecord,
  DeliveryRecord,
  DeliveryState,
} from '../../../application/webhooks/delivery-log.ts';
import type { EventReport as Report } from '../../../application/webhooks/deliveries.ts';
import { component, object, oneOf, ref, schemasOf, text } from '../../../application/schemas/schema.ts';
import { exampleOf, schemaOf, shown, shownBy, shownList } from '../../../application/schemas/shown-fields.ts';
import type { ShownFields } from '../../../application/schemas/shown-fields.ts';
import { Timestamp } from '../../../application/schemas/values.ts';
import { json } from '../openapi/operation.ts';
import { forClient, ok } from '../operation.ts';
import type { Query } from '../requests/parameters.ts';
import { endpoint } from './endpoint.ts';
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

const ATTEMPT: ShownFields<AttemptRecord> = {
  attempt: shown({ type: 'integer', minimum: 1, description: 'Its number.' }, ({ attempt }) => attempt, 1),
  at: shown(ref(Timestamp), ({ at }) => at, '2026-01-15T12:00:01.000Z'),
  duration_ms: shown(
    { type: 'integer', minimum: 0, description: 'How long it took.' },
    ({ durationMs }) => durationMs,
    250,
  ),
  response_status: shown(
    { type: ['integer', 'null'], description: 'HTTP status; null when there was none.' },
    ({ responseStatus }) => responseStatus,
    200,
  ),
  error: shown({ ...TEXT_OR_NULL, description: 'Why it failed.' }, ({ error }) => error, null),
};

/** A list with one item in the example. */
const listed = <From, Item>(...list: Parameters<typeof shownList<From, Item>>) => ({
  ...shownList(...list),
  example: [exampleOf(list[2])],
});

const attemptsAs = <Attempt>(fields: ShownFields<Attempt>) =>
  listed(
    'Every attempt, oldest first.',
    ({ attemptLog }: { readonly attemptLog: readonly Attempt[] }) => attemptLog,
    fields,
  );

const DELIVERY: ShownFields<DeliveryRecord> = {
  delivery_id: shown(
    text({ description: 'This event on its way to this subscription.' }),
    ({ deliveryId }) => deliveryId,
    EXAMPLE_DELIVERY_ID,
  ),
  event_id: shown(EVENT_ID, ({ eventId }) => eventId, EXAMPLE_EVENT_ID),
  event: shown(text({ description: 'Name of the event.' }), ({ event }) => event, 'loan_received'),
  originator_proposal_code: shown(
    { ...TEXT_OR_NULL, description: 'The operation; null for a ping.' },
    ({ code }) => code,
    EXAMPLE.code,
  ),
  fund_id: shown(
    { ...TEXT_OR_NULL, description: 'Its fund; null for a ping.' },
    ({ fundId }) => fundId,
    EXAMPLE.fundId,
  ),
  status: shown(
    oneOf(DELIVERY_STATES, { description: '`failed` means that no attempt is left.' }),
    ({ status }) => status,
    'delivered',
  ),
  attempts: shown(
    { type: 'integer', minimum: 0, description: 'How many were made.' },
    ({ attempts }) => attempts,
    1,
  ),
  created_at: shown(ref(Timestamp), ({ createdAt }) => createdAt, EXAMPLE.received),
  last_attempt_at: shown(
    { ...TIMESTAMP_OR_NULL, description: 'null before the first attempt.' },
    ({ lastAttemptAt }) => lastAttemptAt,
    '2026-01-15T12:00:01.000Z',
  ),
  next_attempt_at: shown(
    { ...TIMESTAMP_OR_NULL, description: 'null when none is planned.' },
    ({ nextAttemptAt }) => nextAttemptAt,
    null,
  ),
  delivered_at: shown(
    { ...TIMESTAMP_OR_NULL, description: 'When a receiver answered 2xx.' },
    ({ deliveredAt }) => deliveredAt,
    '2026-01-15T12:00:01.250Z',
  ),
  last_response_status: shown(
    { type: ['integer', 'null'], description: 'HTTP status of the last answer; null when there was none.' },
    ({ lastResponseStatus }) => lastResponseStatus,
    200,
  ),
  last_error: shown(
    { ...TEXT_OR_NULL, description: 'Why the last attempt failed.' },
    ({ lastError }) => lastError,
    null,
  ),
  attempt_log: attemptsAs(ATTEMPT),
};
const Delivery = component('Delivery', schemaOf(DELIVERY));
const presentDelivery = shownBy(DELIVERY);

type Reported = Report['deliveries'][number];

const REPORTED: ShownFields<Reported> = {
  webhook_id: shown(WEBHOOK_ID, ({ webhookId }) => webhookId, EXAMPLE_WEBHOOK_ID),
  ...DELIVERY,
  attempt_log: attemptsAs<Reported['attemptLog'][number]>({
    ...ATTEMPT,
    response_body: shown(
      {
        ...TEXT_OR_NULL,
        description: 'The first 2 KiB of what the receiver answered; null when it answered nothing.',
      },
      ({ responseBody }) => responseBody,
      '{"taken":true}',
    ),
  }),
};

const REPORT: ShownFields<Report> = {
  event_id: shown(EVENT_ID, ({ eventId }) => eventId, EXAMPLE_EVENT_ID),
  event: shown(text({ description: 'Name of the event.' }), ({ event }) => event, 'loan_received'),
  body: shown(
    text({ description: 'The bytes that are signed and sent, as text.' }),
    ({ body }) => body,
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
    ({ deliveries }) => deliveries,
    REPORTED,
  ),
};
const EventReport = component('EventReport', schemaOf(REPORT));
const presentEvent = shownBy(REPORT);

const DeliveryPage = component(
  'DeliveryPage',
  object({
    data: { type: 'array', items: ref(Delivery) },
    next_cursor: { ...TEXT_OR_NULL, description: 'Send it as `cursor` to get the next page.' },
  }),
);
export const deliverySchemas = schemasOf(Delivery, EventReport, DeliveryPage);

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
  method: 'get',
  path: '/webhook/event/{event_id}',
  tag: 'Webhooks',
  access: 'events',
  bucket: 'read',
  summary: 'Follow an event',
  description:
    'What was sent, byte for byte, and what became of it at each subscription: every attempt with the beginning of what the receiver answered.',
  parameters: ['EventId'],
  success: [json(200, 'The event.', EventReport, exampleOf(REPORT))],
  errors: ['event_not_found'],
  handler: ({ app: { webhooks } }) => ({
    run: forClient(async (context, call) =>
      ok(presentEvent(await webhooks.deliveries.event(context, eventIdOf(call)))),
    ),
  }),
});

export const listDeliveries = endpoint({
  id: 'listDeliveries',
  method: 'get',
  path: '/webhook/{webhook_id}/deliveries',
  tag: 'Webhooks',
  access: 'events',
  bucket: 'read',
  summary: 'List deliveries of a subscription',
  description:
    'Newest first, with every attempt that was made. Filters can be combined. A page with `event` or `since` may be short, or ' +
    'empty: only a `next_cursor` that is null ends the list.',
  parameters: [
    ...['WebhookId', 'DeliveryStatus', 'Since', 'DeliveredEvents', 'DeliveredCode', 'DeliveredEventId'],
    ...['Limit', 'Cursor'],
  ],
  success: [json(200, 'One page.', DeliveryPage, { data: [exampleOf(DELIVERY)], next_cursor: null })],
  errors: ['invalid_query_parameter', 'webhook_not_found'],
  handler: ({ app: { webhooks } }) => ({
    run: forClient(async (context, call) => {
      const page = await webhooks.deliveries.page(context, webhookIdOf(call), inputOf(call.query));
      return ok({ data: page.deliveries.map(presentDelivery), next_cursor: page.nextCursor });
    }),
  }),
});
