import { randomUUID } from 'node:crypto';
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
  componentOf,
  oneOf,
  text,
} from '../../../application/schemas/schema.ts';
import type { TypeOf, Schema } from '../../../application/schemas/schema.ts';
import {
  DURATION,
  DURATION_RULE,
  Timestamp,
  LoanStatus,
  ProposalCode,
  durationOf,
} from '../../../application/schemas/values.ts';
import { json } from '../openapi/operation.ts';
import type { Tag } from '../openapi/operation.ts';
import { ok, endpoint } from '../operation.ts';
import type { CrossCheck } from '../requests/request-rules.ts';
import type { DecisionAnswer } from '../../../application/administrator/answers.ts';
import type { App } from '../../../application/app.ts';
import type { RequestContext } from '../../../application/command-handling/request-context.ts';
import { DECISIONS, decisionSchemas } from '../../../application/publication/description/decision-schema.ts';
import { DomainError } from '../../../domain/shared/domain-error.ts';
import { isErrorCode } from '../errors/error-table.ts';
import { HttpProblem } from '../errors/http-problem.ts';
import { fieldsOf, named, shown, shownComponent } from '../../../application/schemas/shown-fields.ts';
import { EXAMPLE } from '../../../application/schemas/example-values.ts';

/* What only a sandbox has: its clock, and decisions in the place of its administrator. Production publishes and serves none of it. */

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
  if (given.length === 1) return [];
  const which = given.length === 0 ? 'required' : 'contradictory';
  return [{ field: 'body', code: which, message: 'must hold either advance or to' }];
};

const moveOf = ({ advance, to }: SandboxClockMove): ClockMove =>
  typeof to === 'string' ? { to } : { advanceMs: durationOf(advance ?? '') ?? NaN };

const TIME = fieldsOf<Time>()({
  now: named({ ...ref(Timestamp), description: 'The time of operations.' }, '2026-03-01T12:00:00.000Z'),
  offset_seconds: shown(
    { type: 'number', minimum: 0, description: 'How far that is ahead of the real time.' },
    ({ offsetMs }) => offsetMs / 1_000,
    2_592_000,
  ),
});
const SandboxTime = shownComponent('SandboxTime', TIME);

const SHARED =
  'One clock for the whole sandbox, all applications in it included; it survives restarts and only moves forward.';

export const readSandboxClock = endpoint({
  id: 'readSandboxClock',
  request: 'GET /sandbox/clock',
  summary: 'See what time it is in the sandbox',
  description: `${SHARED} It shows the time at which the next event would happen.`,
  access: 'loans:write',
  sandboxOnly: true,
  success: [json(200, 'The time of operations.', SandboxTime)],
  answer: async ({ maintenance }) => ok(SandboxTime.show(await maintenance.sandboxClock!.show())),
});

export const moveSandboxClock = endpoint({
  id: 'moveSandboxClock',
  request: 'POST /sandbox/clock',
  summary: 'Move the clock of the sandbox forward',
  description:
    `${SHARED} With it move all times of events, due dates (what fell due is overdue within two seconds), ` +
    '`payoff_date`, and the days that dates are checked against. Real time is kept by what is sent and when (retries, ' +
    '`X-SVC-Timestamp`, the times of webhooks and their deliveries), by tokens and by rate limits. Moves add up. The answer comes ' +
    'when the new time holds everywhere, a third of a second later.',
  access: 'loans:write',
  bucket: 'settle',
  sandboxOnly: true,
  body: { schema: SandboxClockMove, example: { advance: '30d' }, sample: { advance: '1d' } },
  success: [json(200, 'The clock is moved.', SandboxTime)],
  errors: ['concurrent_modification'],
  crossCheck,
  answer: async ({ maintenance }, _, { body }) =>
    ok(SandboxTime.show(await maintenance.sandboxClock!.move(moveOf(body)))),
});

interface AskedDecision {
  readonly decision_id?: string;
  readonly originator_proposal_code: string;
}

const topicDecision = decisionSchemas.AdministratorDecision;
const { application_id: _, ...properties } = topicDecision['properties'] as Readonly<Record<string, Schema>>;

const SandboxDecision = componentOf<AskedDecision>('SandboxDecision', {
  ...topicDecision,
  required: ['originator_proposal_code', 'decision'],
  properties,
  description: 'A decision as its topic takes it, on an operation of the application that asks.',
});

const SandboxDecided = component(
  'SandboxDecided',
  object({
    decision_id: text({ description: 'Of the decision; made up where none was given.' }),
    originator_proposal_code: ref(ProposalCode),
    decision: oneOf(DECISIONS, { description: 'What was decided.' }),
    outcome: oneOf(['applied', 'already_applied'], {
      description:
        '`already_applied`: this decision, or another one to the same effect, was carried out before.',
    }),
    status: { ...ref(LoanStatus), description: 'Of the operation now.' },
  }),
);

const example = { originator_proposal_code: EXAMPLE.code, decision: 'approve' };

const presentDecided = (answer: DecisionAnswer): object => {
  if (answer.outcome !== 'refused') {
    const { decision, outcome, status } = answer;
    return {
      decision_id: decision.decisionId,
      originator_proposal_code: decision.code,
      decision: decision.decision,
      outcome,
      status,
    };
  }
  const { code, message, details } = answer.reason;
  if (isErrorCode(code)) throw new HttpProblem(code, message, details);
  if (code === 'operation_unreadable') throw new HttpProblem('service_unavailable', message);
  throw new HttpProblem('operation_invalid_state', message, [{ field: 'decision', code, message }]);
};

/** A client of some funds decides on operations of those alone. */
const requireVisible = async ({ loans }: App, context: RequestContext, code: string): Promise<void> => {
  if (context.onlyFundIds && (await loans.read(context, code)) === undefined)
    throw new DomainError('loan_not_found', `there is no operation ${code}`);
};

export const decideInSandbox = endpoint<AskedDecision>({
  id: 'decideInSandbox',
  request: 'POST /sandbox/decision',
  summary: 'Decide in the place of the administrator',
  description:
    'Carries out what the administrator of a fund decides: approval, rejection, signature, disbursement, the end of a repurchase. ' +
    'Send `X-Sandbox-Outcome: hold` with an operation to be the only one who decides on it.',
  access: 'loans:write',
  bucket: 'settle',
  sandboxOnly: true,
  body: { schema: SandboxDecision, limit: 64 * 1024, example },
  success: [
    json(200, 'The decision is carried out.', SandboxDecided, {
      decision_id: '7b0a7c0e-3a58-4d6f-8f5e-0f6f4f1f6f11',
      ...example,
      outcome: 'applied',
      status: 'approved',
    }),
  ],
  errors: [
    ...(['invalid_date', 'loan_not_found', 'idempotency_conflict'] as const),
    ...(['concurrent_modification', 'operation_invalid_state'] as const),
  ],
  answer: async (app, context, { body }) => {
    await requireVisible(app, context, body.originator_proposal_code);
    const decision = { decision_id: randomUUID(), ...body, application_id: context.applicationId };
    const [answer] = await app.administrator.submitAll([JSON.stringify(decision)], {
      name: `client ${context.clientId}`,
      program: true,
    });
    return ok(presentDecided(answer!));
  },
});
