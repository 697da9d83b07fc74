import { EVENT_NAMES } from '../../../application/publishing/event-names.ts';
import type { EventName } from '../../../application/publishing/event-names.ts';
import { eventSchemaName } from './components/events.ts';
import { eventExample } from './event-examples.ts';
import { ref } from './schema.ts';
import type { Schema } from './schema.ts';

const SUMMARIES: Readonly<Record<EventName, string>> = {
  loan_received: 'An operation was accepted for processing',
  loan_approved: 'An operation met the criteria of the fund',
  loan_rejected: 'An operation was turned down',
  loan_term_signed: 'The assignment term is signed',
  disbursement_completed: 'The fund paid: the operation is active',
  installment_settled: 'An installment was paid',
  installment_prepaid: 'A prepayment was allocated',
  loan_fully_settled: 'Nothing is open any more: the operation has ended',
  installment_underpaid: 'An installment was closed with less than it owed',
  repurchase_received: 'A repurchase was recorded and valued',
  repurchase_completed: 'A repurchase is through: the operation has left the fund',
  renegotiation_completed: 'The operation that replaces this one is active',
  'webhook.ping': 'A test message after a registration in the sandbox',
};

const DESCRIPTION =
  'Check the signature over the bytes as they arrived, keep the event, answer 2xx, and only then work on it. ' +
  'Anything but a 2xx within ten seconds is tried again, eight times in about 42 hours. ' +
  'Within one operation events arrive in order; the same event may arrive more than once.';

const pascal = (event: string): string => eventSchemaName(event).replace(/Event$/, '');

/** Names in components/parameters: the headers of a delivery. */
const HEADERS = ['Event', 'EventId', 'Signature', 'SignatureV2', 'Timestamp', 'Attempt'].map((name) => ({
  $ref: `#/components/parameters/Delivery${name}`,
}));

const receiving = (event: EventName): Schema => ({
  post: {
    operationId: `receive${pascal(event)}`,
    tags: ['Webhooks'],
    summary: SUMMARIES[event],
    description: DESCRIPTION,
    security: [],
    parameters: HEADERS,
    requestBody: {
      required: true,
      content: { 'application/json': { schema: ref(eventSchemaName(event)), example: eventExample(event) } },
    },
    responses: {
      '2XX': { description: 'Yours to send: the event is kept. The body is not looked at.' },
      '4XX': { description: 'A failure, like every other answer: the event comes again.' },
      '5XX': { description: 'A failure: the event comes again.' },
    },
  },
});

/** The section `webhooks`: what the service sends, event by event. */
export const webhookSection: Readonly<Record<string, Schema>> = Object.fromEntries(
  EVENT_NAMES.map((event) => [event, receiving(event)]),
);
