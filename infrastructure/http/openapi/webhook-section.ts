import { EVENT_NAMES, EVENTS } from '../../../application/publication/event-names.ts';
import type { EventName } from '../../../application/publication/event-names.ts';
import { eventExample, eventSchemaName } from '../../../application/publication/description/event-schemas.ts';
import { ref } from '../../../application/schemas/schema.ts';
import type { Schema } from '../../../application/schemas/schema.ts';
import { API_VERSION } from './version.ts';

const DESCRIPTION =
  'Check the signature over the bytes as they arrived, keep the event, answer 2xx, and only then work on it. ' +
  'Anything but a 2xx within ten seconds is tried again: eight attempts in about 42 hours. ' +
  'Within one operation events arrive in order; the same event may arrive more than once.';

const pascal = (event: string): string => eventSchemaName(event).replace(/Event$/, '');

/** Names in components/parameters: the headers of a delivery. */
const HEADERS = [
  ...['Event', 'EventId', 'Signature', 'SignatureV2', 'Timestamp', 'Attempt'],
  ...['StandardId', 'StandardTimestamp', 'StandardSignature'],
].map((name) => ({
  $ref: `#/components/parameters/Delivery${name}`,
}));

const receiving = (event: EventName): Schema => ({
  post: {
    operationId: `receive${pascal(event)}`,
    tags: ['Webhooks'],
    summary: EVENTS[event],
    description: DESCRIPTION,
    security: [],
    parameters: HEADERS,
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: ref(eventSchemaName(event)),
          example: eventExample(event, API_VERSION),
        },
      },
    },
    responses: {
      '2XX': {
        description:
          'Yours to send: the event is kept. The body decides nothing; its first 2 KiB are shown at `GET /webhook/event/{event_id}`.',
      },
      '4XX': { description: 'A failure, like every other answer: the event comes again.' },
      '5XX': { description: 'A failure: the event comes again.' },
    },
  },
});

/** The section `webhooks`: what the service sends, event by event. */
export const webhookSection: Readonly<Record<string, Schema>> = Object.fromEntries(
  EVENT_NAMES.map((event) => [event, receiving(event)]),
);
