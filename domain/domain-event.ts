import type { FundNamed } from './fund/names.ts';
import type { LoanEvent } from './loan/events.ts';
import type { RenegotiationEvent } from './renegotiation/state.ts';

/** Everything that is ever stored, of operations, of renegotiations and of funds. */
export type DomainEvent = LoanEvent | RenegotiationEvent | FundNamed;
