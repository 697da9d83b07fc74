import type { RedeliveryReceipt } from '../../../application/webhooks/deliveries.ts';
import type { RotatedSecret as Rotated } from '../../../application/webhooks/webhooks.ts';
import { ref, text } from '../../../application/schemas/schema.ts';
import {
  exampleOf,
  fieldsOf,
  named,
  namedList,
  shownComponent,
} from '../../../application/schemas/shown-fields.ts';
import { Timestamp } from '../../../application/schemas/values.ts';
import { json } from '../openapi/operation.ts';
import { ok, endpoint } from '../operation.ts';
import { EXAMPLE } from '../../../application/schemas/example-values.ts';
import {
  EVENT_ID,
  eventIdOf,
  EXAMPLE_DELIVERY_ID,
  EXAMPLE_EVENT_ID,
  EXAMPLE_WEBHOOK_ID,
  MANAGED,
  SIGNING_SECRET,
  Webhook,
  WEBHOOK_ID,
  webhookIdOf,
} from './subscriptions.ts';

const ROTATED = fieldsOf<Rotated>()({
  webhook_id: named(WEBHOOK_ID, EXAMPLE_WEBHOOK_ID),
  signing_secret: named(SIGNING_SECRET, 'whsec_0c9b5f1d7a'),
  rotated_at: named(ref(Timestamp), EXAMPLE.received),
});
const RotatedSecret = shownComponent('RotatedSecret', ROTATED);

const QUEUED = fieldsOf<RedeliveryReceipt['deliveries'][number]>()({
  webhook_id: named(WEBHOOK_ID, EXAMPLE_WEBHOOK_ID),
  delivery_id: named(
    text({ description: 'The delivery that this attempt belongs to.' }),
    EXAMPLE_DELIVERY_ID,
  ),
  attempt: named({ type: 'integer', minimum: 1, description: 'Number that this attempt carries.' }),
});
const RECEIPT = fieldsOf<RedeliveryReceipt>()({
  event_id: named(EVENT_ID, EXAMPLE_EVENT_ID),
  deliveries: namedList('One for each subscription that gets it.', QUEUED),
});
const Redelivery = shownComponent('Redelivery', RECEIPT);

const exampleOfAttempt = (attempt: number): object => ({
  ...Redelivery.example,
  deliveries: [{ ...exampleOf(QUEUED), attempt }],
});

export const pauseWebhook = endpoint({
  ...MANAGED,
  id: 'pauseWebhook',
  request: 'POST /webhook/{webhook_id}/pause',
  repeatable: true,
  summary: 'Hold deliveries back',
  description: 'Events queue up and nothing is lost. Pausing twice is the same as once.',
  parameters: ['WebhookId'],
  success: [json(200, 'The paused subscription.', Webhook, { ...Webhook.example, status: 'paused' })],
  errors: ['webhook_not_found'],
  answer: async ({ webhooks }, context, call) =>
    ok(Webhook.show(await webhooks.pause(context, webhookIdOf(call)))),
});

export const resumeWebhook = endpoint({
  ...MANAGED,
  id: 'resumeWebhook',
  request: 'POST /webhook/{webhook_id}/resume',
  repeatable: true,
  summary: 'Let deliveries go on',
  description: 'What queued up meanwhile goes out in its order.',
  parameters: ['WebhookId'],
  success: [json(200, 'The active subscription.', Webhook)],
  errors: ['webhook_not_found'],
  answer: async ({ webhooks }, context, call) =>
    ok(Webhook.show(await webhooks.resume(context, webhookIdOf(call)))),
});

export const rotateWebhookSecret = endpoint({
  ...MANAGED,
  id: 'rotateWebhookSecret',
  request: 'POST /webhook/{webhook_id}/rotate-secret',
  summary: 'Replace the signing secret',
  description: 'Every attempt from now on, repeated ones too, is signed with the new secret.',
  parameters: ['WebhookId'],
  success: [json(200, 'The new secret.', RotatedSecret)],
  errors: ['webhook_not_found'],
  answer: async ({ webhooks }, context, call) =>
    ok(RotatedSecret.show(await webhooks.rotateSecret(context, webhookIdOf(call)))),
});

export const pingWebhook = endpoint({
  ...MANAGED,
  id: 'pingWebhook',
  request: 'POST /webhook/{webhook_id}/ping',
  summary: 'Try a subscription out',
  description:
    'Sends `webhook.ping` to this address at once, whatever it subscribes to. It waits for nothing else, and is tried again like any event.',
  parameters: ['WebhookId'],
  success: [json(202, 'The attempt is queued.', Redelivery, exampleOfAttempt(1))],
  errors: ['webhook_not_found', 'webhook_invalid_state'],
  answer: async ({ webhooks }, context, call) => ({
    status: 202,
    json: Redelivery.show(await webhooks.deliveries.ping(context, webhookIdOf(call))),
  }),
});

export const redeliverEvent = endpoint({
  ...MANAGED,
  access: 'events',
  id: 'redeliverEvent',
  request: 'POST /webhook/event/{event_id}/redeliver',
  summary: 'Send an event again',
  description: 'Repeats the original bytes at once, to each matching subscription that is not paused.',
  parameters: ['EventId'],
  success: [json(202, 'The attempts are queued.', Redelivery, exampleOfAttempt(2))],
  errors: ['event_not_found', 'webhook_invalid_state'],
  answer: async ({ webhooks }, context, call) => ({
    status: 202,
    json: Redelivery.show(await webhooks.deliveries.redeliver(context, eventIdOf(call))),
  }),
});
