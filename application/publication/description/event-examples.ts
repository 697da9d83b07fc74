import type { EventName } from '../event-names.ts';

/** What all examples of messages are about. */
export const EXAMPLE_OPERATION = { applicationId: 'acme', code: 'OP-2026-000123' } as const;
const CODE = EXAMPLE_OPERATION.code;
const FUND = '6f1c2f0e-8f57-4f0e-9d5e-3a8a0f6f2b11';
const EVENT_ID = '5c0f9a52-7f6b-4a3c-8a37-1e2d3c4b5a69';
const RECEIVED = '2026-01-15T12:00:00.000Z';
const PAID = '2026-02-15T15:04:05.000Z';

interface EventExample {
  readonly timestamp: string;
  readonly sequence: number;
  readonly data: object;
  readonly flat?: object;
}

const at = (timestamp: string, sequence: number, data: object, flat?: object): EventExample => ({
  timestamp,
  sequence,
  data,
  ...(flat && { flat }),
});

const EXAMPLES: Readonly<Record<EventName, EventExample>> = {
  loan_received: at(RECEIVED, 0, {
    status: 'received',
    received_at: RECEIVED,
    acquisition_value: 1800.0,
    number_of_installments: 2,
  }),
  loan_approved: at('2026-01-15T12:00:02.000Z', 1, {
    status: 'approved',
    approved_at: '2026-01-15T12:00:02.000Z',
  }),
  loan_rejected: at('2026-01-15T12:00:02.000Z', 1, {
    status: 'rejected',
    rejected_at: '2026-01-15T12:00:02.000Z',
    reasons: [{ code: 'concentration_limit', message: 'The fund holds too much of this borrower' }],
  }),
  loan_term_signed: at('2026-01-15T12:00:04.000Z', 2, {
    status: 'term_signed',
    signed_at: '2026-01-15T12:00:04.000Z',
  }),
  disbursement_completed: at('2026-01-15T12:00:06.000Z', 3, {
    status: 'active',
    disbursed_value: 1800.0,
    disbursed_at: '2026-01-15T12:00:06.000Z',
    disbursement_date: '2026-01-15',
  }),
  installment_settled: at(
    PAID,
    4,
    {
      installment_code: '001',
      settled_at: '2026-02-15',
      settled_value: 950.0,
      scheduled_value: 950.0,
      payment_method: 'pix',
      late_days: 0,
    },
    { installment_code: '001', settled_value: 950.0 },
  ),
  installment_underpaid: at(PAID, 5, {
    installment_code: '001',
    scheduled_value: 950.0,
    settled_value: 900.0,
    difference: 50.0,
    settled_at: '2026-02-15',
  }),
  installment_prepaid: at(PAID, 4, {
    prepayment_value: 1000.0,
    prepayment_date: '2026-02-15',
    settled_installments: ['002'],
    remaining_balance: 862.4,
    excess_value: 0.0,
    partially_paid: { installment_code: '001', outstanding_value: 862.4 },
  }),
  loan_fully_settled: at(PAID, 6, {
    status: 'settled',
    settled_at: '2026-02-15',
    closing_event: 'installment_settled',
    total_received: 1900.5,
  }),
  repurchase_received: at(PAID, 4, {
    reason: 'repurchase',
    effective_date: '2026-02-15',
    repurchase_value: 1871.2,
    calculated_at: PAID,
    value_source: 'calculated',
  }),
  repurchase_completed: at('2026-02-15T15:04:07.000Z', 5, {
    reason: 'repurchase',
    repurchase_value: 1871.2,
    status: 'repurchased',
    completed_at: '2026-02-15T15:04:07.000Z',
  }),
  renegotiation_completed: at('2026-02-15T15:04:10.000Z', 8, {
    original_proposal_codes: [CODE],
    new_proposal_code: 'OP-2026-000456',
    effective_date: '2026-02-15',
    completed_at: '2026-02-15T15:04:10.000Z',
  }),
  'webhook.ping': at(RECEIVED, 0, { message: 'This webhook is registered and reachable.' }),
};

/** A whole body, as a receiver reads it. */
export const eventExample = (event: EventName, apiVersion: string) => {
  const { timestamp, sequence, data, flat } = EXAMPLES[event];
  const operation = event === 'webhook.ping' ? { code: null, fund: null } : { code: CODE, fund: FUND };
  return {
    event,
    event_id: EVENT_ID,
    originator_proposal_code: operation.code,
    fund_id: operation.fund,
    timestamp,
    sequence,
    api_version: apiVersion,
    ...flat,
    data,
  };
};
