import { EXAMPLE_OPERATION } from '../schemas/event-examples.ts';
import { TOPICS } from '../publishing/event-names.ts';

const operation = {
  application_id: EXAMPLE_OPERATION.applicationId,
  originator_proposal_code: EXAMPLE_OPERATION.code,
};

/** One of each kind. */
export const decisionExamples = [
  {
    summary: 'The operation meets the criteria',
    payload: {
      decision_id: '7b0a7c0e-3a58-4d6f-8f5e-0f6f4f1f6f11',
      ...operation,
      decision: 'approve',
      decided_at: '2026-01-15T12:00:00Z',
      note: 'Committee of 15 January',
    },
  },
  {
    summary: 'The operation is turned down',
    payload: {
      decision_id: 'D-2026-0002',
      ...operation,
      decision: 'reject',
      reasons: [{ code: 'concentration_limit', message: 'The fund holds too much of this borrower' }],
    },
  },
  {
    summary: 'The term is signed',
    payload: { decision_id: 'D-2026-0003', ...operation, decision: 'sign_term' },
  },
  {
    summary: 'The fund paid',
    payload: {
      decision_id: 'D-2026-0004',
      ...operation,
      decision: 'disburse',
      disbursement_date: '2026-01-15',
      disbursed_value: 1800.0,
    },
  },
  {
    summary: 'A repurchase is through',
    payload: { decision_id: 'D-2026-0005', ...operation, decision: 'process_repurchase' },
  },
] as const;

export const refusedDecisionExample = {
  decision_id: 'D-2026-0004',
  origin: `${TOPICS.decisions}/3@4711`,
  text: JSON.stringify(decisionExamples[3].payload),
  reason: {
    code: 'operation_invalid_state',
    message: `operation ${EXAMPLE_OPERATION.code} is approved; its term has to be signed before the disbursement`,
    details: [],
  },
  refused_at: '2026-01-15T12:00:01.000Z',
};
