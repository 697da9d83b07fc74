import { DELIVERY_STATES } from '../../../application/webhooks/delivery-log.ts';
import type {
  AttemptRecord,
  DeliveryPage as Page,
  DeliveryRecord,
  DeliveryState,
} from '../../../application/webhooks/delivery-log.ts';
import type { EventReport as Report } from '../../../application/webhooks/deliveries.ts';
import { component, object, ref, schemasOf, text } from '../../../application/schemas/schema.ts';
import type { Schema } from '../../../application/schemas/schema.ts';
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

const attemptFields = {
  attempt: { type: 'integer', minimum: 1, description: 'Its number.' },
  at: ref(Timestamp),
  duration_ms: { type: 'integer', minimum: 0, description: 'How long it took.' },
  response_status: { type: ['integer', 'null'], description: 'HTTP status; null when there was none.' },
  error: { ...TEXT_OR_NULL, description: 'Why it failed.' },
} as const;

const attemptLog = (fields: Readonly<Record<string, Schema>>): Schema => ({
  type: 'array',
  description: 'Every attempt, oldest first.',
  items: object(fields),
});

const deliveryFields = {
  delivery_id: text({ description: 'This event on its way to this subscription.' }),
  event_id: EVENT_ID,
  event: text({ description: 'Name of the event.' }),
  originator_proposal_code: { ...TEXT_OR_NULL, description: 'The operation; null for a ping.' },
  fund_id: { ...TEXT_OR_NULL, description: 'Its fund; null for a ping.' },
  status: {
    type: 'string',
    enum: [...DELIVERY_STATES],
    description: '`failed` means that no attempt is left.',
  },
  attempts: { type: 'integer', minimum: 0, description: 'How many were made.' },
  created_at: ref(Timestamp),
  last_attempt_at: { ...TIMESTAMP_OR_NULL, description: 'null before the first attempt.' },
  next_attempt_at: { ...TIMESTAMP_OR_NULL, description: 'null when none is planned.' },
  delivered_at: { ...TIMESTAMP_OR_NULL, description: 'When a receiver answered 2xx.' },
  last_response_status: {
    type: ['integer', 'null'],
    description: 'HTTP status of the last answer; null when there was none.',
  },
  last_error: { ...TEXT_OR_NULL, description: 'Why the last attempt failed.' },
  attempt_log: attemptLog(attemptFields),
} as const;

const Delivery = component('Delivery', object(deliveryFields));

const EventReport = component(
  'EventReport',
  object({
    event_id: EVENT_ID,
    event: text({ description: 'Name of the event.' }),
    body: text({ description: 'The bytes that are signed and sent, as text.' }),
    deliveries: {
      type: 'array',
      description: 'One for each subscription that it was queued for; none where nobody subscribed.',
      items: object({
        webhook_id: WEBHOOK_ID,
        ...deliveryFields,
        attempt_log: attemptLog({
          ...attemptFields,
          response_body: {
            ...TEXT_OR_NULL,
            description: 'The first 2 KiB of what the receiver answered; null when it answered nothing.',
          },
        }),
      }),
    },
  }),
);

const DeliveryPage = component(
  'DeliveryPage',
  object({
    data: { type: 'array', items: ref(Delivery) },
    next_cursor: { ...TEXT_OR_NULL, description: 'Send it as `cursor` to get the next page.' },
  }),
);
export const deliverySchemas = schemasOf(Delivery, EventReport, DeliveryPage);

const exampleDelivery = {
  delivery_id: EXAMPLE_DELIVERY_ID,
  event_id: EXAMPLE_EVENT_ID,
  event: 'loan_received',
  originator_proposal_code: EXAMPLE.code,
  fund_id: EXAMPLE.fundId,
  status: 'delivered',
  attempts: 1,
  created_at: EXAMPLE.received,
  last_attempt_at: '2026-01-15T12:00:01.000Z',
  next_attempt_at: null,
  delivered_at: '2026-01-15T12:00:01.250Z',
  last_response_status: 200,
  last_error: null,
  attempt_log: [
    { attempt: 1, at: '2026-01-15T12:00:01.000Z', duration_ms: 250, response_status: 200, error: null },
  ],
};

const exampleReport = {
  event_id: EXAMPLE_EVENT_ID,
  event: 'loan_received',
  body: JSON.stringify({
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
  deliveries: [
    {
      webhook_id: EXAMPLE_WEBHOOK_ID,
      ...exampleDelivery,
      attempt_log: [{ ...exampleDelivery.attempt_log[0], response_body: '{"taken":true}' }],
    },
  ],
};

const inputOf = (query: Query) => ({
  ...(query['status'] !== undefined && { status: query['status'] as DeliveryState }),
  ...(query['since'] !== undefined && { since: String(query['since']) }),
  ...(query['event'] !== undefined && { events: query['event'] as readonly string[] }),
  ...(query['originator_proposal_code'] !== undefined && { code: String(query['originator_proposal_code']) }),
  ...(query['event_id'] !== undefined && { eventId: String(query['event_id']).toLowerCase() }),
  limit: Number(query['limit']),
  ...(query['cursor'] !== undefined && { cursor: String(query['cursor']) }),
});

const presentAttempt = (record: AttemptRecord): object => ({
  attempt: record.attempt,
  at: record.at,
  duration_ms: record.durationMs,
  response_status: record.responseStatus,
  error: record.error,
});

const presentDelivery = (record: DeliveryRecord): object => ({
  delivery_id: record.deliveryId,
  event_id: record.eventId,
  event: record.event,
  originator_proposal_code: record.code,
  fund_id: record.fundId,
  status: record.status,
  attempts: record.attempts,
  created_at: record.createdAt,
  last_attempt_at: record.lastAttemptAt,
  next_attempt_at: record.nextAttemptAt,
  delivered_at: record.deliveredAt,
  last_response_status: record.lastResponseStatus,
  last_error: record.lastError,
  attempt_log: record.attemptLog.map(presentAttempt),
});

const presentDeliveries = ({ deliveries, nextCursor }: Page): object => ({
  data: deliveries.map(presentDelivery),
  next_cursor: nextCursor,
});

const presentEvent = ({ eventId, event, body, deliveries }: Report): object => ({
  event_id: eventId,
  event,
  body,
  deliveries: deliveries.map((one) => ({
    webhook_id: one.webhookId,
    ...presentDelivery(one),
    attempt_log: one.attemptLog.map((record) => ({
      ...presentAttempt(record),
      response_body: record.responseBody,
    })),
  })),
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
  success: [json(200, 'The event.', EventReport, exampleReport)],
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
  success: [json(200, 'One page.', DeliveryPage, { data: [exampleDelivery], next_cursor: null })],
  errors: ['invalid_query_parameter', 'webhook_not_found'],
  handler: ({ app: { webhooks } }) => ({
    run: forClient(async (context, call) =>
      ok(presentDeliveries(await webhooks.deliveries.page(context, webhookIdOf(call), inputOf(call.query)))),
    ),
  }),
});
