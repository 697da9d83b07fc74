import { RANGE_CHOICES, RANGE_STATES } from '../../../application/webhooks/queue/range-redeliveries.ts';
import type { RangeRedelivery as Range } from '../../../application/webhooks/queue/range-redeliveries.ts';
import { component, oneOf, ref, refused, requestObject, text } from '../../../application/schemas/schema.ts';
import type { TypeOf } from '../../../application/schemas/schema.ts';
import { fieldsOf, named, shownComponent } from '../../../application/schemas/shown-fields.ts';
import { Timestamp } from '../../../application/schemas/values.ts';
import { HttpProblem } from '../errors/http-problem.ts';
import { json } from '../openapi/operation.ts';
import { ok, endpoint } from '../operation.ts';
import { withoutLeapSecond } from '../requests/request-rules.ts';
import type { CrossCheck } from '../requests/request-rules.ts';
import {
  EXAMPLE_REDELIVERY_ID,
  EXAMPLE_WEBHOOK_ID,
  MANAGED,
  redeliveryIdOf,
  TIMESTAMP_OR_NULL,
  WEBHOOK_ID,
  webhookIdOf,
} from './subscriptions.ts';

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

const crossCheck: CrossCheck = (draft) => withoutLeapSecond(draft, ['since', 'until'], 'invalid_format');

const inputOf = ({ since, until, status }: RangeToRedeliver) => ({
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
  crossCheck,
  answer: async ({ webhooks }, context, call) => ({
    status: 202,
    json: RangeRedelivery.show(
      await webhooks.redeliveries.start(context, webhookIdOf(call), inputOf(call.body)),
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
