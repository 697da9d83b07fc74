import type { RenegotiationId } from '../shared/identifiers.ts';
import type { LoanState, ReservedCode, ReservedLoan } from './state.ts';

/** An operation or a code that a renegotiation holds; whoever meets one has to see to that renegotiation first. */
export const isReserved = (state: LoanState): state is ReservedLoan | ReservedCode =>
  state.status === 'reserved' || state.status === 'code_reserved';

/** Whether this very renegotiation holds it. */
export const holds = (
  state: LoanState,
  renegotiation: { readonly renegotiationId: RenegotiationId } | undefined,
): state is ReservedLoan | ReservedCode =>
  isReserved(state) && state.renegotiationId === renegotiation?.renegotiationId;

/** On either side: as an operation that was replaced, or as the one that replaces others. */
export const tookPartInRenegotiation = (state: LoanState): boolean =>
  state.status === 'renegotiated' || ('origin' in state && state.origin !== undefined);
