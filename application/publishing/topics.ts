/** Addresses of the published language. They are part of the interface: never renamed. */
export const TOPICS = {
  events: 'receivables.events',
  eventsDeadLetter: 'receivables.events.dead-letter',
  decisions: 'receivables.administrator-decisions',
  decisionsDeadLetter: 'receivables.administrator-decisions.dead-letter',
} as const;

/** Raised only by a change that an older reader could not bear; additive ones keep it. */
export const SCHEMA_VERSION = '1';
