import type { LoanEvent } from './loan/events.ts';
import type { RenegotiationEvent } from './renegotiation/state.ts';

/** Everything that is ever stored, of operations and of renegotiations. */
export type DomainEvent = LoanEvent | RenegotiationEvent;
