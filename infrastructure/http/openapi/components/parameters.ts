import { DELIVERY_STATES } from '../../../../application/webhooks/delivery-states.ts';
import { EVENT_NAMES, LOAN_EVENT_NAMES } from '../../../../application/publication/catalogue.ts';
import { ref, refused } from '../../../../application/schemas/schema.ts';
import type { Schema } from '../../../../application/schemas/schema.ts';
import { LOAN_STATUSES } from '../../../../domain/loan/statuses.ts';
import { LONGEST_QUESTION } from '../../docs/guides/guide-page.ts';
import { API_VERSION } from '../version.ts';

interface Parameter {
  readonly description: string;
  readonly schema: Schema;
  readonly example: string | number | boolean | readonly string[];
}

const required =
  (place: 'path' | 'header') =>
  (name: string, parameter: Parameter): Schema => ({ name, in: place, required: true, ...parameter });
const inPath = required('path');
const inDelivery = required('header');
const named = (name: string, description: string, example: string): Schema =>
  inPath(name, { description, schema: { type: 'string' }, example });

/** An example that a tool fills in would change the answer: it is told in words. */
const inQuery = (name: string, { example, description, schema }: Parameter): Schema => ({
  name,
  in: 'query',
  required: false,
  description: `${description} Such as \`${String(example)}\`.`,
  schema,
});
const anyInQuery = (
  name: string,
  description: string,
  { values, example }: { readonly values: readonly string[]; readonly example: readonly string[] },
): Schema => ({
  ...inQuery(name, {
    description: `${description}; several with commas between them.`,
    schema: {
      type: 'array',
      items: {
        type: 'string',
        enum: values,
        ...refused('invalid_value', `must be one of ${values.join(', ')}`),
      },
    },
    example,
  }),
  style: 'form',
  explode: false,
});

const HEX_DIGEST: Schema = { type: 'string', pattern: '^[0-9a-f]{64}$' };

const deliveryHeaders: Readonly<Record<string, Schema>> = {
  DeliveryEvent: inDelivery('X-SVC-Event', {
    description: 'Name of the event.',
    schema: { type: 'string', enum: [...EVENT_NAMES] },
    example: 'loan_received',
  }),
  DeliveryEventId: inDelivery('X-SVC-Event-Id', {
    description: 'Id of the event: the same on each attempt.',
    schema: { type: 'string', format: 'uuid' },
    example: '5c0f9a52-7f6b-4a3c-8a37-1e2d3c4b5a69',
  }),
  DeliverySignature: inDelivery('X-SVC-Signature', {
    description: 'Hexadecimal HMAC-SHA256 of the body as it arrived, keyed with the signing secret.',
    schema: HEX_DIGEST,
    example: 'b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9',
  }),
  DeliverySignatureV2: inDelivery('X-SVC-Signature-V2', {
    description:
      'The same over event id, full stop, X-SVC-Timestamp, full stop, body. ' +
      'Check this one, and that the timestamp is recent, to refuse what somebody recorded and sends again.',
    schema: HEX_DIGEST,
    example: 'a591a6d40bf420404a011733cfb7b190d62c65bf0bcda32b57b277d9ad9f146e',
  }),
  DeliveryTimestamp: inDelivery('X-SVC-Timestamp', {
    description: 'UNIX time in seconds at which this attempt was sent.',
    schema: { type: 'integer', minimum: 0 },
    example: 1_768_478_401,
  }),
  DeliveryAttempt: inDelivery('X-SVC-Delivery-Attempt', {
    description: 'Number of the attempt, beginning with 1.',
    schema: { type: 'integer', minimum: 1 },
    example: 1,
  }),
  DeliveryStandardId: inDelivery('webhook-id', {
    description: 'X-SVC-Event-Id, under the name that libraries of Standard Webhooks look for.',
    schema: { type: 'string', format: 'uuid' },
    example: '5c0f9a52-7f6b-4a3c-8a37-1e2d3c4b5a69',
  }),
  DeliveryStandardTimestamp: inDelivery('webhook-timestamp', {
    description: 'X-SVC-Timestamp, under the name that those libraries look for.',
    schema: { type: 'integer', minimum: 0 },
    example: 1_768_478_401,
  }),
  DeliveryStandardSignature: inDelivery('webhook-signature', {
    description:
      'One signature as Standard Webhooks defines it: `v1,` and the Base64 of the HMAC-SHA256 over what X-SVC-Signature-V2 covers. ' +
      'Its key is what the signing secret has behind `whsec_`, decoded from Base64.',
    schema: { type: 'string', pattern: '^v1,[A-Za-z0-9+/]{43}=$' },
    example: 'v1,pZGm1Av0IEBKARczz7exkNYsZb8LzaMrV7J32a2fFG4=',
  }),
};

const ofFund = (description: string): Schema =>
  inQuery('fund_id', {
    description,
    schema: ref('FundId'),
    example: '6f1c2f0e-8f57-4f0e-9d5e-3a8a0f6f2b11',
  });
const ofOperation = (description: string): Schema =>
  inQuery('originator_proposal_code', {
    description,
    schema: ref('ProposalCode'),
    example: 'OP-2026-000123',
  });
const from = (name: string, description: string): Schema =>
  inQuery(name, {
    description,
    schema: {
      type: 'string',
      format: 'date-time',
      ...refused(
        'invalid_value',
        'must be a date-time of RFC 3339, such as 2026-01-15T12:00:00Z; write + as %2B',
      ),
    },
    example: '2026-01-15T12:00:00Z',
  });
const ofEvents = (description: string, values: readonly string[]): Schema =>
  anyInQuery('event', description, { values, example: ['installment_settled', 'installment_underpaid'] });

const EVENT_ID = {
  schema: {
    type: 'string',
    format: 'uuid',
    ...refused('invalid_value', 'must be the event_id of an event'),
  },
  example: '5c0f9a52-7f6b-4a3c-8a37-1e2d3c4b5a69',
};

export const parameterComponents: Readonly<Record<string, Schema>> = {
  ProposalCode: inPath('originator_proposal_code', {
    description:
      'Code of the operation. Codes that are also the name of a path, such as `files`, are read like any other.',
    schema: ref('ProposalCode'),
    example: 'OP-2026-000123',
  }),
  DocumentId: named(
    'document_id',
    'Document, as named in the operation.',
    '2d0c6a0e-51c4-4a0a-9a35-5b0d6f2f9a11',
  ),
  WebhookId: named(
    'webhook_id',
    'Webhook, as named at its creation.',
    '8a1e5f30-3c1b-4d0e-9f53-0a5f7c1d2e3f',
  ),
  EventId: named('event_id', 'Event, as named in its delivery.', '5c0f9a52-7f6b-4a3c-8a37-1e2d3c4b5a69'),
  RedeliveryId: named(
    'redelivery_id',
    'Redelivery, as named when it was asked for.',
    'f3b0c7de-52a1-4c0b-8e7f-9a4d6b1c2e30',
  ),
  LoanStatus: anyInQuery('status', 'Only operations in one of these states', {
    values: LOAN_STATUSES,
    example: ['active', 'settled'],
  }),
  Overdue: inQuery('overdue', {
    description:
      'With `true` only operations of which an installment is `overdue`. What has left the portfolio keeps the status of its ' +
      'installments; `status=active` beside it leaves that out.',
    schema: {
      type: 'boolean',
      enum: [true],
      ...refused(
        'invalid_value',
        'must be true; without it, operations with and without overdue installments',
      ),
    },
    example: true,
  }),
  FundId: ofFund('Only operations of this fund.'),
  UpdatedSince: from('updated_since', 'Only operations whose `updated_at` is this instant or later.'),
  Limit: inQuery('limit', {
    description: 'Entries on one page.',
    schema: {
      type: 'integer',
      minimum: 1,
      maximum: 200,
      default: 50,
      ...refused('invalid_value', 'must be a whole number from 1 to 200'),
    },
    example: 50,
  }),
  Cursor: inQuery('cursor', {
    description: 'The `next_cursor` of the page before.',
    schema: {
      type: 'string',
      minLength: 1,
      maxLength: 512,
      ...refused('invalid_value', 'must be the next_cursor of an earlier page'),
    },
    example: 'WyIyMDI2LTAxLTE1VDEyOjAwOjAwLjAwMFoiLCJPUC0yMDI2LTAwMDEyMyJd',
  }),
  DeliveryStatus: inQuery('status', {
    description: 'Only deliveries in this status.',
    schema: {
      type: 'string',
      enum: [...DELIVERY_STATES],
      ...refused('invalid_value', `must be one of ${DELIVERY_STATES.join(', ')}`),
    },
    example: 'failed',
  }),
  Since: from('since', 'Only deliveries created at or after this instant.'),
  DeliveredEvents: ofEvents('Only deliveries of events with one of these names', EVENT_NAMES),
  DeliveredCode: ofOperation('Only deliveries of events of this operation.'),
  DeliveredEventId: inQuery('event_id', {
    description: 'Only the delivery of this event.',
    ...EVENT_ID,
  }),
  FeedAfter: inQuery('after', {
    description:
      'What comes after this event, which may be any of the application: `next_after` of the page before, or the last event that a webhook brought. Without it, from the first one on.',
    ...EVENT_ID,
  }),
  FeedEvents: ofEvents('Only events with one of these names', LOAN_EVENT_NAMES),
  FeedFund: ofFund('Only events of operations of this fund.'),
  FeedCode: ofOperation('Only events of this operation.'),
  DescriptionVersion: named(
    'version',
    'A version that the changelog names, the current one included.',
    API_VERSION,
  ),
  DocsAsset: named('asset', 'A file that the page names.', 'start.js'),
  Guide: named('guide', 'A guide, as the list of all names it.', 'integrators-guide'),
  GuideQuestion: inQuery('q', {
    description: 'What to look for, in words; those after the eighth count no more.',
    schema: {
      type: 'string',
      maxLength: LONGEST_QUESTION,
      ...refused('invalid_value', `must be at most ${LONGEST_QUESTION} characters`),
    },
    example: 'rate limit',
  }),
  ...deliveryHeaders,
};

export const parameter = (name: string): Schema => ({ $ref: `#/components/parameters/${name}` });
