import { DELIVERY_STATES } from '../../../../application/ports/delivery-log.ts';
import { ALL_EVENTS, EVENT_NAMES } from '../../../../application/publishing/event-names.ts';
import {
  nullable,
  object,
  ref,
  refused,
  refusedBy,
  requestObject,
} from '../../../../application/schemas/schema.ts';
import type { Schema } from '../../../../application/schemas/schema.ts';

const text = (description: string): Schema => ({ type: 'string', description });
const WEBHOOK_ID = text('Our name for the subscription.');
const EVENT_ID: Schema = { type: 'string', format: 'uuid', description: 'The event, as named in its body.' };
const timestampOrNull: Schema = { type: ['string', 'null'], format: 'date-time' };
const textOrNull: Schema = { type: ['string', 'null'] };

const events: Schema = {
  type: 'array',
  minItems: 1,
  maxItems: 50,
  items: {
    type: 'string',
    enum: [ALL_EVENTS, ...EVENT_NAMES],
    ...refused('invalid_event', `must be * or one of ${EVENT_NAMES.join(', ')}`),
  },
  description: 'Events to send; `*` stands for all, also for those that are added later.',
  examples: [['*']],
  ...refused('invalid_event', 'must be a list of at least one event name, or of * alone'),
};

const url: Schema = {
  type: 'string',
  maxLength: 2048,
  pattern: '^[Hh][Tt][Tt][Pp][Ss]://',
  description: 'An https address that is reachable from the public internet.',
  examples: ['https://hooks.example.com/receivables'],
  ...refused('invalid_webhook_url', 'must be an https:// address of at most 2048 characters'),
};

const fundIds: Schema = {
  type: 'array',
  minItems: 1,
  maxItems: 500,
  items: ref('FundId'),
  description: 'Only events of these funds. Leave it out for every fund of the application.',
  ...refused('invalid_format', 'must be a list of 1 to 500 fund ids; leave it out for all funds'),
};

const description: Schema = {
  type: 'string',
  maxLength: 500,
  description: 'A note for yourself.',
  examples: ['Production receiver'],
  ...refused('invalid_format', 'must be text of at most 500 characters'),
};

const entry = {
  webhook_id: WEBHOOK_ID,
  url: text('Where the events go.'),
  events: { type: 'array', items: { type: 'string' }, description: 'Events that are sent.' },
  fund_ids: {
    type: ['array', 'null'],
    items: ref('FundId'),
    description: 'null: every fund of the application.',
  },
  description: { ...textOrNull, description: 'Your note.' },
  status: {
    type: 'string',
    enum: ['active', 'paused'],
    description: 'Whether events are sent now, or wait.',
  },
  created_at: ref('Timestamp'),
};

const secret: Schema = {
  type: 'string',
  description: 'Key of the HMAC that signs each delivery. It is shown this once.',
};

const attemptFields = {
  attempt: { type: 'integer', minimum: 1, description: 'Its number.' },
  at: ref('Timestamp'),
  duration_ms: { type: 'integer', minimum: 0, description: 'How long it took.' },
  response_status: { type: ['integer', 'null'], description: 'HTTP status; null when there was none.' },
  error: { ...textOrNull, description: 'Why it failed.' },
};

const attemptLog = (fields: Readonly<Record<string, Schema>>): Schema => ({
  type: 'array',
  description: 'Every attempt, oldest first.',
  items: object(fields),
});

const deliveryFields = {
  delivery_id: text('This event on its way to this subscription.'),
  event_id: EVENT_ID,
  event: text('Name of the event.'),
  originator_proposal_code: { ...textOrNull, description: 'The operation; null for a ping.' },
  fund_id: { ...textOrNull, description: 'Its fund; null for a ping.' },
  status: {
    type: 'string',
    enum: [...DELIVERY_STATES],
    description: '`failed` means that no attempt is left.',
  },
  attempts: { type: 'integer', minimum: 0, description: 'How many were made.' },
  created_at: ref('Timestamp'),
  last_attempt_at: { ...timestampOrNull, description: 'null before the first attempt.' },
  next_attempt_at: { ...timestampOrNull, description: 'null when none is planned.' },
  delivered_at: { ...timestampOrNull, description: 'When a receiver answered 2xx.' },
  last_response_status: {
    type: ['integer', 'null'],
    description: 'HTTP status of the last answer; null when there was none.',
  },
  last_error: { ...textOrNull, description: 'Why the last attempt failed.' },
  attempt_log: attemptLog(attemptFields),
};

export const webhookSchemas: Readonly<Record<string, Schema>> = {
  NewWebhook: requestObject({ url, events, fund_ids: fundIds, description }, ['fund_ids', 'description']),
  WebhookUpdate: {
    type: 'object',
    minProperties: 1,
    additionalProperties: false,
    properties: { url, events, fund_ids: nullable(fundIds), description: nullable(description) },
    description: 'Only what is present changes; null lifts the restriction to funds, or removes the note.',
    ...refusedBy({
      minProperties: {
        code: 'empty_update',
        message: 'must hold at least one of url, events, fund_ids, description',
      },
      additionalProperties: {
        code: 'immutable_field',
        message: 'cannot be changed; leave it out',
      },
    }),
  },
  CreatedWebhook: object({ ...entry, signing_secret: secret }),
  Webhook: object({
    ...entry,
    updated_at: ref('Timestamp'),
    last_success_at: { ...timestampOrNull, description: 'Last 2xx of the receiver.' },
    last_failure_at: { ...timestampOrNull, description: 'Last attempt that failed.' },
    failing_since: { ...timestampOrNull, description: 'Start of the present run of failures.' },
  }),
  WebhookList: object({ data: { type: 'array', items: ref('Webhook') } }),
  RotatedSecret: object({
    webhook_id: WEBHOOK_ID,
    signing_secret: secret,
    rotated_at: ref('Timestamp'),
  }),
  Redelivery: object({
    event_id: EVENT_ID,
    deliveries: {
      type: 'array',
      description: 'One for each subscription that gets it.',
      items: object({
        webhook_id: WEBHOOK_ID,
        delivery_id: text('The delivery that this attempt belongs to.'),
        attempt: { type: 'integer', minimum: 1, description: 'Number that this attempt carries.' },
      }),
    },
  }),
  Delivery: object(deliveryFields),
  EventReport: object({
    event_id: EVENT_ID,
    event: text('Name of the event.'),
    body: text('The bytes that are signed and sent, as text.'),
    deliveries: {
      type: 'array',
      description: 'One for each subscription that it was queued for; none where nobody subscribed.',
      items: object({
        webhook_id: WEBHOOK_ID,
        ...deliveryFields,
        attempt_log: attemptLog({
          ...attemptFields,
          response_body: {
            ...textOrNull,
            description: 'The first 2 KiB of what the receiver answered; null when it answered nothing.',
          },
        }),
      }),
    },
  }),
  DeliveryPage: object({
    data: { type: 'array', items: ref('Delivery') },
    next_cursor: { ...textOrNull, description: 'Send it as `cursor` to get the next page.' },
  }),
};
