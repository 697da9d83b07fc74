import type { WebhookSubscription } from '../../../application/webhooks/subscriptions.ts';
import {
  listOf,
  oneOf,
  ref,
  text,
  component,
  nullable,
  object,
  partial,
  refused,
  refusedBy,
  requestObject,
} from '../../../application/schemas/schema.ts';
import type { Schema, TypeOf } from '../../../application/schemas/schema.ts';
import { fieldsOf, named, shownComponent, within } from '../../../application/schemas/shown-fields.ts';
import { isSoundText } from '../../../application/schemas/document-validators.ts';
import { FundId, Timestamp } from '../../../application/schemas/values.ts';
import { HttpProblem } from '../errors/http-problem.ts';
import type { Call } from '../operation.ts';
import { EXAMPLE } from '../../../application/schemas/example-values.ts';
import type {
  CreatedWebhook as Created,
  CreateWebhookInput,
} from '../../../application/webhooks/webhooks.ts';
import { ALL_EVENTS, EVENT_NAMES } from '../../../application/publication/catalogue.ts';
import { json } from '../openapi/operation.ts';
import { NO_CONTENT, ok, endpoint } from '../operation.ts';

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

const WEBHOOK = fieldsOf<WebhookSubscription>()({
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

const BODY_BYTES = 65_536;
const SUBSCRIPTION_ERRORS = ['invalid_webhook_url', 'invalid_event', 'fund_not_allowed'] as const;

const events = {
  type: 'array',
  minItems: 1,
  maxItems: 50,
  ...listOf(
    oneOf(
      [ALL_EVENTS, ...EVENT_NAMES],
      refused('invalid_event', `must be * or one of ${EVENT_NAMES.join(', ')}`),
    ),
  ),
  description:
    'Events to send. `*` stands for all, also for those that are added later, and stands alone: beside other names it is refused.',
  examples: [['*']],
  ...refused('invalid_event', 'must be a list of at least one event name, or of * alone'),
};

const url = text({
  maxLength: 2048,
  pattern: '^[Hh][Tt][Tt][Pp][Ss]://',
  description: 'An https address that is reachable from the public internet.',
  examples: ['https://hooks.example.com/receivables'],
  ...refused('invalid_webhook_url', 'must be an https:// address of at most 2048 characters'),
});

const fundIds = {
  type: 'array',
  minItems: 1,
  maxItems: 500,
  ...listOf(ref(FundId)),
  description: 'Only events of these funds. Leave it out for every fund of the application.',
  ...refused('invalid_format', 'must be a list of 1 to 500 fund ids; leave it out for all funds'),
};

const description = text({
  maxLength: 500,
  description: 'A note for yourself.',
  examples: ['Production receiver'],
  ...refused('invalid_format', 'must be text of at most 500 characters'),
});

const NewWebhook = component(
  'NewWebhook',
  requestObject({ url, events, fund_ids: fundIds, description }, ['fund_ids', 'description']),
);
type NewWebhook = TypeOf<typeof NewWebhook>;

const WebhookUpdate = component('WebhookUpdate', {
  type: 'object',
  minProperties: 1,
  additionalProperties: false,
  ...partial({ url, events, fund_ids: nullable(fundIds), description: nullable(description) }),
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
});
type WebhookUpdate = TypeOf<typeof WebhookUpdate>;

const { status, created_at, ...fields } = within(({ webhook }: Created) => webhook, WEBHOOK);
const CreatedWebhook = shownComponent(
  'CreatedWebhook',
  fieldsOf<Created>()({
    ...fields,
    signing_secret: named(SIGNING_SECRET, 'whsec_5f1d7a0c9b'),
    ...{ status: status!, created_at: created_at! },
  }),
);

const WebhookList = component('WebhookList', object({ data: { type: 'array', items: ref(Webhook) } }));

const example = {
  url: 'https://hooks.example.com/receivables',
  events: ['*'],
  description: 'Production receiver',
};

const lowerCase = (ids: readonly string[]): readonly string[] => ids.map((id) => id.toLowerCase());

const createWebhookInput = (body: NewWebhook): CreateWebhookInput => ({
  url: body.url,
  events: body.events,
  ...(body.fund_ids && { fundIds: lowerCase(body.fund_ids) }),
  ...(body.description !== undefined && { description: body.description }),
});

const updateWebhookInput = (body: WebhookUpdate): Partial<CreateWebhookInput> => ({
  ...(body.url !== undefined && { url: body.url }),
  ...(body.events !== undefined && { events: body.events }),
  ...(body.fund_ids !== undefined && { fundIds: body.fund_ids && lowerCase(body.fund_ids) }),
  ...(body.description !== undefined && { description: body.description }),
});

export const createWebhook = endpoint({
  ...MANAGED,
  id: 'createWebhook',
  request: 'POST /webhook',
  summary: 'Subscribe to events',
  description:
    'From now on the events are sent to the address, signed with the secret in this answer; it is shown here only. ' +
    'In the sandbox a `webhook.ping` follows at once. An application may have 20 subscriptions.',
  body: { schema: NewWebhook, example, limit: BODY_BYTES },
  success: [json(200, 'The subscription is active.', CreatedWebhook, CreatedWebhook.example)],
  errors: [...SUBSCRIPTION_ERRORS, 'webhook_invalid_state'],
  answer: async ({ webhooks }, context, { body }) =>
    ok(CreatedWebhook.show(await webhooks.create(context, createWebhookInput(body)))),
});

export const listWebhooks = endpoint({
  id: 'listWebhooks',
  request: 'GET /webhook',
  access: 'webhooks',
  summary: 'List subscriptions',
  description: 'Every subscription that was not deleted, paused ones included. Secrets are never shown.',
  success: [json(200, 'All of them.', WebhookList, { data: [Webhook.example] })],
  answer: async ({ webhooks }, { applicationId }) =>
    ok({ data: (await webhooks.list([applicationId])).map(Webhook.show) }),
});

export const readWebhook = endpoint({
  id: 'readWebhook',
  request: 'GET /webhook/{webhook_id}',
  access: 'webhooks',
  summary: 'Read a subscription',
  description: 'One subscription, as the list shows it.',
  parameters: ['WebhookId'],
  success: [json(200, 'The subscription.', Webhook)],
  errors: ['webhook_not_found'],
  answer: async ({ webhooks }, context, call) =>
    ok(Webhook.show(await webhooks.find(context, webhookIdOf(call)))),
});

export const updateWebhook = endpoint({
  ...MANAGED,
  id: 'updateWebhook',
  request: 'PATCH /webhook/{webhook_id}',
  repeatable: true,
  summary: 'Change a subscription',
  description: 'Changes the fields that are present and leaves the others. Any other field is refused.',
  parameters: ['WebhookId'],
  body: { schema: WebhookUpdate, example: { events: ['installment_settled'] }, limit: BODY_BYTES },
  success: [json(200, 'The changed subscription.', Webhook)],
  errors: [...SUBSCRIPTION_ERRORS, 'immutable_field', 'empty_update', 'webhook_not_found'],
  answer: async ({ webhooks }, context, call) => {
    const changes = updateWebhookInput(call.body);
    return ok(Webhook.show(await webhooks.update(context, webhookIdOf(call), changes)));
  },
});

export const deleteWebhook = endpoint({
  ...MANAGED,
  id: 'deleteWebhook',
  request: 'DELETE /webhook/{webhook_id}',
  repeatable: true,
  summary: 'Delete a subscription',
  description: 'Whatever still waits for it is never sent.',
  parameters: ['WebhookId'],
  success: [{ status: 204, description: 'It is gone.' }],
  errors: ['webhook_not_found'],
  answer: async ({ webhooks }, context, call) => {
    await webhooks.remove(context, webhookIdOf(call));
    return NO_CONTENT;
  },
});
