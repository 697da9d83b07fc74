import type {
  CreatedWebhook as Created,
  CreateWebhookInput,
} from '../../../application/webhooks/webhooks.ts';
import { ALL_EVENTS, EVENT_NAMES } from '../../../application/publication/catalogue.ts';
import {
  component,
  listOf,
  nullable,
  object,
  oneOf,
  partial,
  ref,
  refused,
  refusedBy,
  requestObject,
  text,
} from '../../../application/schemas/schema.ts';
import type { TypeOf } from '../../../application/schemas/schema.ts';
import { fieldsOf, named, shownComponent, within } from '../../../application/schemas/shown-fields.ts';
import { FundId } from '../../../application/schemas/values.ts';
import { json } from '../openapi/operation.ts';
import { NO_CONTENT, ok, endpoint } from '../operation.ts';
import { MANAGED, SIGNING_SECRET, Webhook, WEBHOOK, webhookIdOf } from './webhook.ts';

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
