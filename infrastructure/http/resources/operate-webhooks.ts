import type { RedeliveryReceipt } from '../../../application/webhooks/deliveries.ts';
import type { RotatedSecret as Rotated } from '../../../application/webhooks/webhooks.ts';
import { ref, text, component, oneOf, refused, requestObject } from '../../../application/schemas/schema.ts';
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
  EXAMPLE_REDELIVERY_ID,
  redeliveryIdOf,
  TIMESTAMP_OR_NULL,
} from './subscriptions.ts';
import { RANGE_CHOICES, RANGE_STATES } from '../../../application/webhooks/queue/range-redeliveries.ts';
import type { RangeRedelivery as Range } from '../../../application/webhooks/queue/range-redeliveries.ts';
import type { TypeOf } from '../../../application/schemas/schema.ts';
import { HttpProblem } from '../errors/http-problem.ts';

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

const INSTANT = {
  format: 'date-time',
  ...refused('invalid_format', 'must be an instant with its zone, such as 2026-01-15T12:00:00Z'),
} as const;

const RangeToRedeliver = component(
  'RangeToRedeliver',
  requestObject(
    {
      since: text({
        ...INSTANT,
        description: 'Deliveries created at this instant or later, by the `created_at` that the list shows.',
        examples: ['2026-01-15T12:00:00Z'],
      }),
      until: text({
        ...INSTANT,
        description: 'And before this one; left out, all up to now.',
        examples: ['2026-01-15T18:00:00Z'],
      }),
      status: oneOf(RANGE_CHOICES, {
        description:
          '`failed` (unless something else is said): those of which no attempt is left. `any`: those that arrived as well. ' +
          'What is pending or retrying is sent anyway and is never among them.',
        examples: ['failed'],
        ...refused('invalid_value', `must be one of ${RANGE_CHOICES.join(', ')}`),
      }),
    },
    ['until', 'status'],
  ),
);
type RangeToRedeliver = TypeOf<typeof RangeToRedeliver>;

const count = (description: string) => ({ type: 'integer', minimum: 0, description }) as const;

const RANGE = fieldsOf<Range>()({
  redelivery_id: named(text({ description: 'Our name for it.' }), EXAMPLE_REDELIVERY_ID),
  webhook_id: named(WEBHOOK_ID, EXAMPLE_WEBHOOK_ID),
  status: named(
    oneOf(RANGE_STATES, {
      description:
        '`running` until each has had its attempt: then `completed`. `stopped`: nothing answered ten attempts in a row. ' +
        '`cancelled`: the subscription was deleted.',
    }),
    'running',
  ),
  since: named(ref(Timestamp), '2026-01-15T12:00:00.000Z'),
  until: named(ref(Timestamp), '2026-01-15T18:30:00.000Z'),
  queued: named(count('How many deliveries it is about.'), 1200),
  gone: named(count('Those that were too old to be kept when their turn came.'), 0),
  delivered: named(count('Those that the receiver took.'), 0),
  failed: named(count('Those whose attempt failed.'), 0),
  created_at: named(ref(Timestamp), '2026-01-15T18:30:00.000Z'),
  completed_at: named({ ...TIMESTAMP_OR_NULL, description: 'When it ended; null while it runs.' }, null),
});
const RangeRedelivery = shownComponent('RangeRedelivery', RANGE);

export const exampleRangeRequest = { since: '2026-01-15T12:00:00Z' };

const exampleCompleted = {
  ...RangeRedelivery.example,
  ...{ status: 'completed', delivered: 1198, failed: 2, completed_at: '2026-01-15T18:31:12.480Z' },
};

const rangeOf = ({ since, until, status }: RangeToRedeliver) => ({
  since,
  ...(typeof until === 'string' && { until }),
  ...(status && { status }),
});

export const redeliverWebhook = endpoint({
  ...MANAGED,
  access: 'events',
  allFunds: true,
  id: 'redeliverWebhook',
  request: 'POST /webhook/{webhook_id}/redeliver',
  summary: 'Send what failed in a span of time again',
  description:
    'For after an outage of the receiver. The deliveries are chosen before the answer; each then gets one attempt, with the bytes of ' +
    'the first one and the secret of today. Within an operation they go by `sequence`, each once the one before was answered; operations ' +
    'go side by side, a few at a time, and new events do not wait for them. One of these runs at a subscription at a time. While the ' +
    'subscription is paused it rests.',
  parameters: ['WebhookId'],
  body: { schema: RangeToRedeliver, example: exampleRangeRequest },
  success: [json(202, 'It has begun.', RangeRedelivery)],
  errors: ['webhook_not_found', 'redelivery_running', 'concurrent_modification', 'webhook_invalid_state'],
  answer: async ({ webhooks }, context, call) => ({
    status: 202,
    json: RangeRedelivery.show(
      await webhooks.redeliveries.start(context, webhookIdOf(call), rangeOf(call.body)),
    ),
  }),
});

export const readRedelivery = endpoint({
  id: 'readRedelivery',
  request: 'GET /webhook/{webhook_id}/redeliver/{redelivery_id}',
  access: 'events',
  allFunds: true,
  summary: 'See how far a redelivery has come',
  description:
    'Kept for 30 days after its end, also when the subscription is deleted. What became of each delivery is in the list of deliveries.',
  parameters: ['WebhookId', 'RedeliveryId'],
  success: [json(200, 'The redelivery.', RangeRedelivery, exampleCompleted)],
  errors: ['webhook_not_found', 'not_found'],
  answer: async ({ webhooks }, context, call) => {
    const [webhookId, redeliveryId] = [webhookIdOf(call), redeliveryIdOf(call)];
    const found = await webhooks.redeliveries.find(context, webhookId, redeliveryId);
    if (found) return ok(RangeRedelivery.show(found));
    const message = `webhook ${webhookId} has no redelivery ${redeliveryId}; it is kept for 30 days after its end`;
    throw new HttpProblem('not_found', message);
  },
});
