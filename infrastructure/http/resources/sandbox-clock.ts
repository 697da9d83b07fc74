import {
  DURATION,
  DURATION_RULE,
  durationOf,
} from '../../../application/maintenance/sandbox/sandbox-clock.ts';
import type {
  ClockMove,
  SandboxTime as Time,
} from '../../../application/maintenance/sandbox/sandbox-clock.ts';
import {
  component,
  nullable,
  object,
  ref,
  refused,
  refusedBy,
  schemasOf,
} from '../../../application/schemas/schema.ts';
import type { TypeOf } from '../../../application/schemas/schema.ts';
import { Timestamp } from '../../../application/schemas/values.ts';
import { json } from '../openapi/operation.ts';
import type { Tag } from '../openapi/operation.ts';
import { forClient, ok } from '../operation.ts';
import { withoutLeapSecond } from '../requests/request-rules.ts';
import type { CrossCheck } from '../requests/request-rules.ts';
import { endpoint } from './endpoint.ts';

/*
 * What only a sandbox has: its clock, and a header that asks its administrator for another outcome. Production publishes and serves
 * none of it.
 */

export const SANDBOX_TAG: Tag = {
  name: 'Sandbox',
  description: 'Time and decisions at will, to try out what would take weeks; absent in production.',
  guide: ['sandbox', 'The sandbox'],
};

const SandboxClockMove = component('SandboxClockMove', {
  ...object(
    {
      advance: nullable({
        type: 'string',
        pattern: DURATION,
        description: 'By how much; a day has 24 hours.',
        examples: ['30d'],
        ...refused('invalid_format', DURATION_RULE),
      }),
      to: nullable({
        type: 'string',
        format: 'date-time',
        description: 'To which instant.',
        examples: ['2026-03-01T12:00:00Z'],
        ...refused('invalid_format', 'must be an instant with its zone, such as 2026-03-01T12:00:00Z'),
      }),
    },
    ['advance', 'to'],
  ),
  additionalProperties: false,
  description:
    'Exactly one of the two: by how much, or to which instant. At most ten years ahead of the real time.',
  ...refusedBy({
    additionalProperties: { code: 'unknown', message: 'is not a field here; they are advance and to' },
  }),
});
type SandboxClockMove = TypeOf<typeof SandboxClockMove>;

const crossCheck: CrossCheck = (draft) => {
  const given = ['advance', 'to'].filter((name) => (draft[name] ?? null) !== null);
  if (given.length === 1) return withoutLeapSecond(draft, ['to'], 'invalid_date');
  const which = given.length === 0 ? 'required' : 'contradictory';
  return [{ field: 'body', code: which, message: 'must hold either advance or to' }];
};

const moveOf = ({ advance, to }: SandboxClockMove): ClockMove =>
  typeof to === 'string' ? { to } : { advanceMs: durationOf(advance ?? '') ?? NaN };

const SandboxTime = component(
  'SandboxTime',
  object({
    now: { ...ref(Timestamp), description: 'The time of operations.' },
    offset_seconds: {
      type: 'number',
      minimum: 0,
      description: 'How far that is ahead of the real time.',
    },
  }),
);
export const sandboxSchemas = schemasOf(SandboxClockMove, SandboxTime);

const exampleTime = { now: '2026-03-01T12:00:00.000Z', offset_seconds: 2_592_000 };

const present = ({ now, offsetMs }: Time): object => ({ now, offset_seconds: offsetMs / 1_000 });

const SHARED =
  'One clock for the whole sandbox, all applications in it included; it survives restarts and only moves forward.';

export const readSandboxClock = endpoint({
  id: 'readSandboxClock',
  method: 'get',
  path: '/sandbox/clock',
  tag: SANDBOX_TAG.name,
  summary: 'See what time it is in the sandbox',
  description: `${SHARED} It shows the time at which the next event would happen.`,
  access: 'loans:write',
  bucket: 'read',
  sandboxOnly: true,
  success: [json(200, 'The time of operations.', SandboxTime, exampleTime)],
  errors: [],
  handler: ({ app: { maintenance } }) => ({
    run: forClient(async () => ok(present(await maintenance.sandboxClock!.show()))),
  }),
});

export const moveSandboxClock = endpoint({
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
  body: [
    {
      mediaType: 'application/json',
      schema: SandboxClockMove,
      example: { advance: '30d' },
      sample: { advance: '1d' },
    },
  ],
  success: [json(200, 'The clock is moved.', SandboxTime, exampleTime)],
  errors: ['concurrent_modification'],
  handler: ({ app: { maintenance } }) => ({
    crossCheck,
    run: forClient<SandboxClockMove>(async (_, { body }) =>
      ok(present(await maintenance.sandboxClock!.move(moveOf(body)))),
    ),
  }),
});
