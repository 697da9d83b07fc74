import * as example from '../examples.ts';
import { json } from '../operation.ts';
import type { OperationSpec } from '../operation.ts';

const TAG = 'Webhooks';
const BODY_BYTES = 65_536;
const MANAGED = { tag: TAG, access: 'webhooks', bucket: 'webhook' } as const;
const SUBSCRIPTION_ERRORS = ['invalid_webhook_url', 'invalid_event', 'fund_not_allowed'] as const;

const create: OperationSpec = {
  ...MANAGED,
  id: 'createWebhook',
  method: 'post',
  path: '/webhook',
  summary: 'Subscribe to events',
  description:
    'From now on the events are sent to the address, signed with the secret in this answer; it is shown here only. ' +
    'In the sandbox a `webhook.ping` follows at once. An application may have 20 subscriptions.',
  body: [
    { mediaType: 'application/json', schema: 'NewWebhook', example: example.newWebhook, limit: BODY_BYTES },
  ],
  success: [json(200, 'The subscription is active.', 'CreatedWebhook', example.createdWebhook)],
  errors: [...SUBSCRIPTION_ERRORS, 'webhook_invalid_state'],
};

const list: OperationSpec = {
  id: 'listWebhooks',
  method: 'get',
  path: '/webhook',
  tag: TAG,
  access: 'webhooks',
  bucket: 'read',
  summary: 'List subscriptions',
  description: 'Every subscription that was not deleted, paused ones included. Secrets are never shown.',
  success: [json(200, 'All of them.', 'WebhookList', { data: [example.webhook] })],
  errors: [],
};

const update: OperationSpec = {
  ...MANAGED,
  id: 'updateWebhook',
  method: 'patch',
  path: '/webhook/{webhook_id}',
  summary: 'Change a subscription',
  description: 'Changes the fields that are present and leaves the others. Any other field is refused.',
  parameters: ['WebhookId'],
  body: [
    {
      mediaType: 'application/json',
      schema: 'WebhookUpdate',
      example: { events: ['installment_settled'] },
      limit: BODY_BYTES,
    },
  ],
  success: [json(200, 'The changed subscription.', 'Webhook', example.webhook)],
  errors: [...SUBSCRIPTION_ERRORS, 'immutable_field', 'empty_update', 'webhook_not_found'],
};

const remove: OperationSpec = {
  ...MANAGED,
  id: 'deleteWebhook',
  method: 'delete',
  path: '/webhook/{webhook_id}',
  summary: 'Delete a subscription',
  description: 'Whatever still waits for it is never sent.',
  parameters: ['WebhookId'],
  success: [{ status: 204, description: 'It is gone.' }],
  errors: ['webhook_not_found'],
};

const pause: OperationSpec = {
  ...MANAGED,
  id: 'pauseWebhook',
  method: 'post',
  path: '/webhook/{webhook_id}/pause',
  summary: 'Hold deliveries back',
  description: 'Events queue up and nothing is lost. Pausing twice is the same as once.',
  parameters: ['WebhookId'],
  success: [json(200, 'The paused subscription.', 'Webhook', { ...example.webhook, status: 'paused' })],
  errors: ['webhook_not_found'],
};

const resume: OperationSpec = {
  ...MANAGED,
  id: 'resumeWebhook',
  method: 'post',
  path: '/webhook/{webhook_id}/resume',
  summary: 'Let deliveries go on',
  description: 'What queued up meanwhile goes out in its order.',
  parameters: ['WebhookId'],
  success: [json(200, 'The active subscription.', 'Webhook', example.webhook)],
  errors: ['webhook_not_found'],
};

const rotate: OperationSpec = {
  ...MANAGED,
  id: 'rotateWebhookSecret',
  method: 'post',
  path: '/webhook/{webhook_id}/rotate-secret',
  summary: 'Replace the signing secret',
  description: 'Every attempt from now on, repeated ones too, is signed with the new secret.',
  parameters: ['WebhookId'],
  success: [json(200, 'The new secret.', 'RotatedSecret', example.rotatedSecret)],
  errors: ['webhook_not_found'],
};

const redeliver: OperationSpec = {
  ...MANAGED,
  access: 'events',
  id: 'redeliverEvent',
  method: 'post',
  path: '/webhook/event/{event_id}/redeliver',
  summary: 'Send an event again',
  description: 'Repeats the original bytes at once, to each matching subscription that is not paused.',
  parameters: ['EventId'],
  success: [json(202, 'The attempts are queued.', 'Redelivery', example.redelivery)],
  errors: ['event_not_found', 'webhook_invalid_state'],
};

const ping: OperationSpec = {
  ...MANAGED,
  id: 'pingWebhook',
  method: 'post',
  path: '/webhook/{webhook_id}/ping',
  summary: 'Try a subscription out',
  description:
    'Sends `webhook.ping` to this address at once, whatever it subscribes to. It waits for nothing else, and is tried again like any event.',
  parameters: ['WebhookId'],
  success: [json(202, 'The attempt is queued.', 'Redelivery', example.pinged)],
  errors: ['webhook_not_found', 'webhook_invalid_state'],
};

const event: OperationSpec = {
  id: 'readEvent',
  method: 'get',
  path: '/webhook/event/{event_id}',
  tag: TAG,
  access: 'events',
  bucket: 'read',
  summary: 'Follow an event',
  description:
    'What was sent, byte for byte, and what became of it at each subscription: every attempt with the beginning of what the receiver answered.',
  parameters: ['EventId'],
  success: [json(200, 'The event.', 'EventReport', example.eventReport)],
  errors: ['event_not_found'],
};

const deliveries: OperationSpec = {
  id: 'listDeliveries',
  method: 'get',
  path: '/webhook/{webhook_id}/deliveries',
  tag: TAG,
  access: 'events',
  bucket: 'read',
  summary: 'List deliveries of a subscription',
  description: 'Newest first, with every attempt that was made.',
  parameters: ['WebhookId', 'DeliveryStatus', 'Since', 'Limit', 'Cursor'],
  success: [json(200, 'One page.', 'DeliveryPage', { data: [example.delivery], next_cursor: null })],
  errors: ['invalid_query_parameter', 'webhook_not_found'],
};

export const webhookOperations: readonly OperationSpec[] = [
  ...[create, list, update, remove, pause, resume],
  ...[rotate, ping, redeliver, event, deliveries],
];
