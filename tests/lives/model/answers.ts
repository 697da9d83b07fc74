/** What a request must be answered with. */
export interface Expected {
  readonly status: number;
  readonly error?: string;
  /** Fields that the answer must have, exactly so. */
  readonly body?: object;
  readonly replayed?: boolean;
}

const refusal = (status: number, error: string): Expected => ({ status, error });
export const REFUSED = {
  conflict: refusal(409, 'idempotency_conflict'),
  noLoan: refusal(404, 'loan_not_found'),
  noPart: refusal(400, 'installment_not_found'),
  date: refusal(400, 'invalid_date'),
  state: refusal(422, 'operation_invalid_state'),
  closed: refusal(409, 'installment_already_closed'),
  code: refusal(409, 'proposal_code_already_used'),
  shape: refusal(400, 'validation_error'),
  fund: refusal(403, 'fund_not_allowed'),
} as const;

/** What was decided: an answer without an effect, or what to do and how to answer from then on. */
export type Decided = Expected | { readonly accept: () => () => Expected };
