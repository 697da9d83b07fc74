/** Fields of stored events that hold whole cents; shown, they are amounts. Other numbers there count something. */
export const AMOUNT_FIELDS: ReadonlySet<string> = new Set([
  ...['acquisition_value', 'face_value', 'disbursed_value', 'settled_value', 'scheduled_value', 'difference'],
  ...['prepayment_value', 'payoff_value', 'remaining_balance', 'excess_value', 'outstanding_at_due'],
  ...['present_value', 'repurchase_value', 'calculated_value', 'received_value', 'total_received'],
  'sandbox_disbursement',
]);
