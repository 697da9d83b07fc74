import { randomUUID } from 'node:crypto';
import type { DecisionAnswer } from '../../../application/administrator/answers.ts';
import type { App } from '../../../application/app.ts';
import type { RequestContext } from '../../../application/command-handling/request-context.ts';
import { DECISIONS, decisionSchemas } from '../../../application/publication/description/decision-schema.ts';
import {
  component,
  componentOf,
  object,
  oneOf,
  ref,
  schemasOf,
  text,
} from '../../../application/schemas/schema.ts';
import type { Schema } from '../../../application/schemas/schema.ts';
import { LoanStatus, ProposalCode } from '../../../application/schemas/values.ts';
import { DomainError } from '../../../domain/shared/domain-error.ts';
import { isErrorCode } from '../errors/error-table.ts';
import { HttpProblem } from '../errors/http-problem.ts';
import { json } from '../openapi/operation.ts';
import { forClient, ok } from '../operation.ts';
import { endpoint } from './endpoint.ts';
import { EXAMPLE } from '../../../application/schemas/example-values.ts';
import { SANDBOX_TAG } from './sandbox-clock.ts';

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
export const sandboxDecisionSchemas = schemasOf(SandboxDecision, SandboxDecided);

const example = { originator_proposal_code: EXAMPLE.code, decision: 'approve' };

const present = (answer: DecisionAnswer): object => {
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
  method: 'post',
  path: '/sandbox/decision',
  tag: SANDBOX_TAG.name,
  summary: 'Decide in the place of the administrator',
  description:
    'Carries out what the administrator of a fund decides: approval, rejection, signature, disbursement, the end of a repurchase. ' +
    'Send `X-Sandbox-Outcome: hold` with an operation to be the only one who decides on it.',
  access: 'loans:write',
  bucket: 'settle',
  sandboxOnly: true,
  body: [
    {
      mediaType: 'application/json',
      schema: SandboxDecision,
      limit: 64 * 1024,
      example,
    },
  ],
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
  handler: ({ app }) => ({
    run: forClient<AskedDecision>(async (context, { body }) => {
      await requireVisible(app, context, body.originator_proposal_code);
      const decision = { decision_id: randomUUID(), ...body, application_id: context.applicationId };
      const [answer] = await app.administrator.submitAll([JSON.stringify(decision)], {
        name: `client ${context.clientId}`,
        program: true,
      });
      return ok(present(answer!));
    }),
  }),
});
