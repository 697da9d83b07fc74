import type { EventEntry } from './event-entry.ts';
import { optional, text } from './payload.ts';

export const borrowerForgotten: EventEntry<'BorrowerForgotten'> = {
  storedType: 'loan.borrower_forgotten.v1',
  encode: (event) => ({
    ...(event.reason !== undefined && { reason: event.reason }),
    forgotten_at: event.forgottenAt,
  }),
  decode: (p) => ({
    type: 'BorrowerForgotten',
    ...optional(p, 'reason', 'reason', text),
    forgottenAt: text(p, 'forgotten_at'),
  }),
};
