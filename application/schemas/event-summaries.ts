import type { EventName } from '../publishing/event-names.ts';

/** What happened, in one line each. */
export const EVENT_SUMMARIES: Readonly<Record<EventName, string>> = {
  loan_received: 'An operation was accepted for processing',
  loan_approved: 'An operation met the criteria of the fund',
  loan_rejected: 'An operation was turned down',
  loan_term_signed: 'The assignment term is signed',
  disbursement_completed: 'The fund paid: the operation is active',
  installment_settled: 'An installment was paid',
  installment_prepaid: 'A prepayment was allocated',
  loan_fully_settled: 'Nothing is open any more: the operation has ended',
  installment_underpaid: 'An installment was closed with less than it owed',
  repurchase_received: 'A repurchase was recorded and valued',
  repurchase_completed: 'A repurchase is through: the operation has left the fund',
  renegotiation_completed: 'The operation that replaces this one is active',
  'webhook.ping': 'A test message after a registration in the sandbox',
};
