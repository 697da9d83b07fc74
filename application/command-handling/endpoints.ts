export const ENDPOINTS = {
  assignLoan: 'POST /loan',
  settleInstallment: 'POST /installment/settle',
  processPrepayment: 'POST /installment/prepayment',
  requestRepurchase: 'POST /loan/repurchase',
  renegotiate: 'PATCH /loan/renegotiate',
  decideInSandbox: 'POST /sandbox/decision',
} as const;

/** Under this name decision ids of the fund's administrator are kept like idempotency keys; part of the stored format. */
export const DECISION_KEYS = 'administrator decision';
/** Under this name the operation itself keeps the ids of first decisions that took effect; part of the stored format. */
export const CONFIRMED_KEYS = 'confirmed decision';
/** Decision ids are the administrator's, whatever application the operation belongs to; those of a sandbox's application are its own. No application can have this id. */
export const ALL_APPLICATIONS = '*';
