import type { Operation } from '../../../application/command-handling/operation.ts';
import { LoanStreams } from '../../../application/renegotiation/streams.ts';
import type { Step } from '../../../application/renegotiation/streams.ts';
import { loanDecider } from '../../../domain/loan/index.ts';
import type { LoanCommand, LoanEvent, LoanState } from '../../../domain/loan/index.ts';
import type { Decider } from '../../../domain/shared/decider.ts';

/** The protocol as it is, and what it would be without one of the things that hold it together. */
export const VARIANTS = [
  'real',
  'unfenced abort',
  'no state check at roll-forward',
  'no reservation',
] as const;
export type Variant = (typeof VARIANTS)[number];

type LoanRules = Decider<LoanState, LoanCommand, LoanEvent>;

const withoutStateCheck: LoanRules = {
  ...loanDecider,
  decide: (command, state) => {
    if (command.type === 'ReceiveRenegotiatedLoan') return [command.received];
    if (command.type !== 'RenegotiateLoan') return loanDecider.decide(command, state);
    const { renegotiation, renegotiatedAt } = command;
    return [{ type: 'LoanRenegotiated', renegotiation, renegotiatedAt }];
  },
};

/** Reserves at the last moment instead, together with what the reservation is for. */
const reservingLate: LoanRules = {
  ...loanDecider,
  decide: (command, state) => {
    const free = state.status === 'active' || state.status === 'none';
    if (!free || (command.type !== 'RenegotiateLoan' && command.type !== 'ReceiveRenegotiatedLoan')) {
      return loanDecider.decide(command, state);
    }
    const { renegotiationId } = command.type === 'RenegotiateLoan' ? command.renegotiation : command;
    const reserved = { type: 'LoanReserved', renegotiationId, leaseEndsAt: '' as never } as const;
    return [reserved, ...loanDecider.decide(command, loanDecider.evolve(state, reserved))];
  },
};

/** Answers that it has reserved, and has not. */
class LoanStreamsWithoutReservation extends LoanStreams {
  override async take(step: Step): Promise<Operation> {
    const { command } = step;
    if (command.type !== 'ReserveLoan' && command.type !== 'ReserveLoanCode') return super.take(step);
    const operation = await this.load(step.stream);
    const reserved = loanDecider.decide(command, operation.state);
    const revision = operation.revision === 'no_stream' ? 0n : operation.revision;
    return {
      ...operation,
      revision,
      state: reserved.reduce((state, event) => loanDecider.evolve(state, event), operation.state),
    };
  }
}

type Dependencies = Omit<ConstructorParameters<typeof LoanStreams>[0], 'loans'>;

export const loanStreamsOf = (variant: Variant, dependencies: Dependencies): LoanStreams => {
  switch (variant) {
    case 'real':
    case 'unfenced abort':
      return new LoanStreams({ ...dependencies, loans: loanDecider });
    case 'no state check at roll-forward':
      return new LoanStreams({ ...dependencies, loans: withoutStateCheck });
    case 'no reservation':
      return new LoanStreamsWithoutReservation({ ...dependencies, loans: reservingLate });
  }
};
