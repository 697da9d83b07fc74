import type { Decider } from '../shared/decider.ts';
import type { RenegotiationCommand } from './commands.ts';
import { decide } from './decide.ts';
import { evolve } from './state.ts';
import type { RenegotiationEvent, RenegotiationState } from './state.ts';

/** The coordinator of one renegotiation: where it is decided for all operations at once. */
export const renegotiationDecider: Decider<RenegotiationState, RenegotiationCommand, RenegotiationEvent> = {
  initialState: { status: 'none' },
  decide,
  evolve,
};

export { newOperation, requireRenegotiable, requireSoundProposal, requireUnusedCode } from './decide.ts';
export type * from './commands.ts';
export type * from './state.ts';
