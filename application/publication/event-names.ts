import { PUBLICATIONS } from './catalogue.ts';
import type { LoanEventName } from './catalogue.ts';

/** Addresses of the published language. They are part of the interface: never renamed. */
export const TOPICS = {
  events: 'receivables.events',
  eventsDeadLetter: 'receivables.events.dead-letter',
  decisions: 'receivables.administrator-decisions',
  decisionsDeadLetter: 'receivables.administrator-decisions.dead-letter',
} as const;

/** Raised only by a change that an older reader could not bear; additive ones keep it. */
export const SCHEMA_VERSION = '1';

export const LOAN_EVENTS = Object.fromEntries(
  PUBLICATIONS.map(({ name, summary }) => [name, summary]),
) as Readonly<Record<LoanEventName, string>>;
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
