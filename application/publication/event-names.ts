/** Addresses of the published language. They are part of the interface: never renamed. */
export const TOPICS = {
  events: 'receivables.events',
  eventsDeadLetter: 'receivables.events.dead-letter',
  decisions: 'receivables.administrator-decisions',
  decisionsDeadLetter: 'receivables.administrator-decisions.dead-letter',
} as const;

/** Raised only by a change that an older reader could not bear; additive ones keep it. */
export const SCHEMA_VERSION = '1';

/** The catalogue of public events, with what happened. Names are part of the interface: never changed, never reused. */
export const LOAN_EVENTS = {
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
} as const;
export type LoanEventName = keyof typeof LOAN_EVENTS;
export const LOAN_EVENT_NAMES = Object.keys(LOAN_EVENTS) as readonly LoanEventName[];

export const PING = 'webhook.ping';
export const EVENTS = {
  ...LOAN_EVENTS,
  [PING]: 'A test message after a registration in the sandbox',
} as const;
export type EventName = keyof typeof EVENTS;
export const EVENT_NAMES = Object.keys(EVENTS) as readonly EventName[];

/** Subscribes to every event, also to names that do not exist yet. */
export const ALL_EVENTS = '*';
