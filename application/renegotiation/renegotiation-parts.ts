import { loanDecider } from '../../domain/loan/index.ts';
import type { OperationCache } from '../command-handling/command-handler.ts';
import type { BusinessClock, RealClock } from '../ports/clock.ts';
import type { EventStore } from '../ports/event-store.ts';
import { RollForward } from './roll-forward.ts';
import { Coordinators } from './coordinators.ts';
import { LoanStreams } from './loan-streams.ts';
import { RenegotiationProtocol } from './protocol.ts';
import { ResolveRenegotiation } from './resolve-renegotiation.ts';

interface Dependencies {
  readonly events: EventStore;
  readonly clock: BusinessClock;
  readonly realClock: RealClock;
  /** Of this process's command handler. */
  readonly cache: Pick<OperationCache, 'delete'>;
  readonly pause: (ms: number) => Promise<void>;
}

export interface RenegotiationParts {
  readonly loans: LoanStreams;
  readonly protocol: RenegotiationProtocol;
  /** For the command handler and the recovery. */
  readonly resolving: ResolveRenegotiation;
}

/** The protocol put together over one store; a process has one of it. */
export const renegotiationParts = ({
  events,
  clock,
  realClock,
  cache,
  pause,
}: Dependencies): RenegotiationParts => {
  const coordinators = new Coordinators({ events, pause });
  const forget = (stream: string): unknown => cache.delete(stream);
  const loans = new LoanStreams({ events, loans: loanDecider, forget, pause });
  const conclusion = new RollForward({ coordinators, loans, clock });
  return {
    loans,
    protocol: new RenegotiationProtocol({ coordinators, loans, conclusion, clock, realClock }),
    resolving: new ResolveRenegotiation({ coordinators, conclusion, realClock, pause }),
  };
};
