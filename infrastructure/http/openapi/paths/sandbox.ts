import { DURATION, DURATION_RULE } from '../../../../application/sandbox/duration.ts';
import { object, ref, refused, refusedBy, requestObject } from '../../../../application/schemas/schema.ts';
import type { Schema } from '../../../../application/schemas/schema.ts';
import { json } from '../operation.ts';
import type { OperationSpec } from '../operation.ts';

/*
 * What only a sandbox has: its clock, and a header that asks its administrator for another outcome. Production publishes and serves
 * none of it.
 */

export const SANDBOX_TAG = {
  name: 'Sandbox',
  description: 'Time and decisions at will, to try out what would take weeks; absent in production.',
};

const time = { now: '2026-03-01T12:00:00.000Z', offset_seconds: 2_592_000 };

const SHARED =
  'One clock for the whole sandbox, all applications in it included; it survives restarts and only moves forward.';

export const sandboxOperations: readonly OperationSpec[] = [
  {
    id: 'readSandboxClock',
    method: 'get',
    path: '/sandbox/clock',
    tag: SANDBOX_TAG.name,
    summary: 'See what time it is in the sandbox',
    description: `${SHARED} It shows the time at which the next event would happen.`,
    access: 'loans:write',
    bucket: 'read',
    sandboxOnly: true,
    success: [json(200, 'The time of operations.', 'SandboxTime', time)],
    errors: [],
  },
  {
    id: 'moveSandboxClock',
    method: 'post',
    path: '/sandbox/clock',
    tag: SANDBOX_TAG.name,
    summary: 'Move the clock of the sandbox forward',
    description:
      `${SHARED} With it move all times of events, due dates (what fell due is overdue within two seconds), ` +
      '`payoff_date`, and the days that dates are checked against. Real time is kept by what is sent and when (retries, ' +
      '`X-SVC-Timestamp`, the times of webhooks and their deliveries), by tokens and by rate limits. Moves add up. The answer comes ' +
      'when the new time holds everywhere, a third of a second later.',
    access: 'loans:write',
    bucket: 'settle',
    sandboxOnly: true,
    body: [{ mediaType: 'application/json', schema: 'SandboxClockMove', example: { advance: '30d' } }],
    success: [json(200, 'The clock is moved.', 'SandboxTime', time)],
    errors: ['concurrent_modification'],
  },
];

export const sandboxSchemas: Readonly<Record<string, Schema>> = {
  SandboxClockMove: {
    ...requestObject(
      {
        advance: {
          type: 'string',
          pattern: DURATION,
          description: 'By how much; a day has 24 hours.',
          examples: ['30d'],
          ...refused('invalid_format', DURATION_RULE),
        },
        to: {
          type: 'string',
          format: 'date-time',
          description: 'To which instant.',
          examples: ['2026-03-01T12:00:00Z'],
          ...refused('invalid_format', 'must be an instant with its zone, such as 2026-03-01T12:00:00Z'),
        },
      },
      ['advance', 'to'],
    ),
    additionalProperties: false,
    description:
      'Exactly one of the two: by how much, or to which instant. At most ten years ahead of the real time.',
    ...refusedBy({
      additionalProperties: { code: 'unknown', message: 'is not a field here; they are advance and to' },
    }),
  },
  SandboxTime: object({
    now: { ...ref('Timestamp'), description: 'The time of operations.' },
    offset_seconds: {
      type: 'number',
      minimum: 0,
      description: 'How far that is ahead of the real time.',
    },
  }),
};

const outcome = (outcomes: readonly string[], description: string): Schema => ({
  name: 'X-Sandbox-Outcome',
  in: 'header',
  required: false,
  description,
  schema: {
    type: 'string',
    enum: [...outcomes],
    ...refused('invalid_value', `must be ${outcomes.join(' or ')}; leave it out for an approval`),
  },
  example: outcomes.at(-1),
});

const HOLD =
  '`hold` leaves the operation to decisions from the command line (`receivables administrator approve` and the like)';

/** Of requests that bring an operation in, under their names in components/parameters. */
export const sandboxParameters: Readonly<Record<string, Schema>> = {
  SandboxOutcome: outcome(
    ['reject', 'hold'],
    `What the sandbox's administrator does instead of approving: \`reject\` rejects, ${HOLD}. No part of what makes a request the same.`,
  ),
  SandboxHold: outcome(
    ['hold'],
    `What the sandbox's administrator does instead of approving the new operation: ${HOLD}. No part of what makes a request the same.`,
  ),
};
