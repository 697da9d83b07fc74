/** Names under which idempotency keys are kept; part of the stored format. */
export const ENDPOINTS = {
  assignLoan: 'POST /loan',
  settleInstallment: 'POST /installment/settle',
  processPrepayment: 'POST /installment/prepayment',
  requestRepurchase: 'POST /loan/repurchase',
  renegotiate: 'PATCH /loan/renegotiate',
} as const;
