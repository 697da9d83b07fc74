import type { Decider } from '../shared/decider.ts';
import type { LoanCommand } from './commands.ts';
import { decide } from './decide.ts';
import type { LoanEvent } from './events.ts';
import { evolve } from './evolve.ts';
import type { LoanState } from './state.ts';

export const loanDecider: Decider<LoanState, LoanCommand, LoanEvent> = {
  initialState: { status: 'none' },
  decide,
  evolve,
};

export { openFaceValue, payoffValue, totalReceived } from './evolve.ts';
export { isSameDocument } from './add-documents.ts';
export { isReserved, tookPartInRenegotiation } from './state.ts';
export type * from './commands.ts';
export type * from './events.ts';
export type * from './state.ts';
