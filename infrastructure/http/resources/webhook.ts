import type { WebhookSubscription } from '../../../application/webhooks/subscriptions.ts';
import { listOf, oneOf, ref, text } from '../../../application/schemas/schema.ts';
import type { Schema } from '../../../application/schemas/schema.ts';
import { fieldsOf, named, shownComponent } from '../../../application/schemas/shown-fields.ts';
import { isSoundText } from '../../../application/schemas/document-validators.ts';
import { FundId, Timestamp } from '../../../application/schemas/values.ts';
import { HttpProblem } from '../errors/http-problem.ts';
import type { Call } from '../operation.ts';
import { EXAMPLE } from '../../../application/schemas/example-values.ts';

export const WEBHOOK_ID = text({ description: 'Our name for the subscription.' });
export const TIMESTAMP_OR_NULL = { type: ['string', 'null'], format: 'date-time' } as const;
export const TEXT_OR_NULL = { type: ['string', 'null'] } as const;

export const SIGNING_SECRET = {
  type: 'string',
  description: 'Key of the HMAC that signs each delivery. It is shown this once.',
} as const;

export const EVENT_ID = {
  type: 'string',
  format: 'uuid',
  description: 'The event, as named in its body.',
} as const;

export const EXAMPLE_EVENT_ID = '5c0f9a52-7f6b-4a3c-8a37-1e2d3c4b5a69';
export const EXAMPLE_DELIVERY_ID = 'c2b7d6a4-1f0e-4b9c-a5d8-6e7f8a9b0c1d';
export const EXAMPLE_REDELIVERY_ID = 'f3b0c7de-52a1-4c0b-8e7f-9a4d6b1c2e30';
export const EXAMPLE_WEBHOOK_ID = '8a1e5f30-3c1b-4d0e-9f53-0a5f7c1d2e3f';

const FUND_IDS: Schema = {
  type: ['array', 'null'],
  items: ref(FundId),
  description: 'null: every fund of the application.',
};

export const WEBHOOK = fieldsOf<WebhookSubscription>()({
  webhook_id: named(WEBHOOK_ID, EXAMPLE_WEBHOOK_ID),
  url: named(text({ description: 'Where the events go.' }), 'https://hooks.example.com/receivables'),
  events: named(listOf(text(), { description: 'Events that are sent.' }), ['*']),
  fund_ids: named(FUND_IDS, null),
  description: named({ ...TEXT_OR_NULL, description: 'Your note.' }, 'Production receiver'),
  status: named(
    oneOf(['active', 'paused'], { description: 'Whether events are sent now, or wait.' }),
    'active',
  ),
  created_at: named(ref(Timestamp), EXAMPLE.received),
});

const SUBSCRIPTION = fieldsOf<WebhookSubscription>()({
  ...WEBHOOK,
  updated_at: named(ref(Timestamp), EXAMPLE.received),
  last_success_at: named(
    { ...TIMESTAMP_OR_NULL, description: 'Last 2xx of the receiver.' },
    '2026-01-15T12:00:01.250Z',
  ),
  last_failure_at: named({ ...TIMESTAMP_OR_NULL, description: 'Last attempt that failed.' }, null),
  failing_since: named({ ...TIMESTAMP_OR_NULL, description: 'Start of the present run of failures.' }, null),
});
export const Webhook = shownComponent('Webhook', SUBSCRIPTION);

export const MANAGED = { access: 'webhooks', bucket: 'webhook' } as const;

/** An id of a path, written as it is stored, as far as one can look like this. @throws HttpProblem 404 */
const idOf = (
  id: string | undefined,
  code: 'webhook_not_found' | 'event_not_found' | 'not_found',
): string => {
  if (id !== undefined && isSoundText(id)) return id.toLowerCase();
  throw new HttpProblem(code, 'nothing has an id like this');
};

export const webhookIdOf = ({ params }: Call): string => idOf(params['webhook_id'], 'webhook_not_found');
export const eventIdOf = ({ params }: Call): string => idOf(params['event_id'], 'event_not_found');
export const redeliveryIdOf = ({ params }: Call): string => idOf(params['redelivery_id'], 'not_found');
