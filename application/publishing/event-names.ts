/** Addresses of the published language. They are part of the interface: never renamed. */
export const TOPICS = {
  events: 'receivables.events',
  eventsDeadLetter: 'receivables.events.dead-letter',
  decisions: 'receivables.administrator-decisions',
  decisionsDeadLetter: 'receivables.administrator-decisions.dead-letter',
} as const;

/** Raised only by a change that an older reader could not bear; additive ones keep it. */
export const SCHEMA_VERSION = '1';

/** The catalogue of public events. Names are part of the interface: never changed, never reused. */
export const LOAN_EVENT_NAMES = [
  'loan_received',
  'loan_approved',
  'loan_rejected',
  'loan_term_signed',
  'disbursement_completed',
  'installment_settled',
  'installment_prepaid',
  'loan_fully_settled',
  'installment_underpaid',
  'repurchase_received',
  'repurchase_completed',
  'renegotiation_completed',
] as const;
export const PING = 'webhook.ping';
export const EVENT_NAMES = [...LOAN_EVENT_NAMES, PING] as const;
export type LoanEventName = (typeof LOAN_EVENT_NAMES)[number];
export type EventName = (typeof EVENT_NAMES)[number];

/** Subscribes to every event, also to names that do not exist yet. */
export const ALL_EVENTS = '*';
