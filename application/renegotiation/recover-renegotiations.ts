import type { RealTime, RenegotiationId } from '../../domain/shared/identifiers.ts';
import { renegotiationStream } from '../command-handling/operation.ts';
import { decodeEvent, readOrLeave } from '../event-codec/event-codec.ts';
import { loanEntries } from '../event-codec/entries.ts';
import { renegotiationEntries } from '../event-codec/renegotiation-entries.ts';
import { UnreadableEventError } from '../event-codec/fields.ts';
import type { RealClock } from '../ports/clock.ts';
import { actingOn } from '../processors/acting.ts';
import type { Following } from '../processors/acting.ts';
import type { Runner } from '../processors/runner.ts';
import { LEASE_MS } from './roll-forward.ts';
import type { RollForward } from './roll-forward.ts';

interface Dependencies extends Following {
  readonly conclusion: RollForward;
  readonly realClock: RealClock;
}

const ASKING = new Set([
  renegotiationEntries.RenegotiationStarted.storedType,
  loanEntries.LoanReserved.storedType,
]);
const LEASE_PAUSE_MS = 100;

/**
 * Looks after every renegotiation once its lease is over, so that none stays undecided and nothing stays reserved when no process
 * asks. Reservations count as well as starts: a process that slept through its lease may still make one.
 */
export const recoverRenegotiations = (dependencies: Dependencies): Runner<never> => {
  const { conclusion, realClock, sleep, logger } = dependencies;
  const leave = (stream: string, error: Error): void => {
    const message = 'a renegotiation is left as it is until `receivables quarantine release`';
    logger.error({ stream, error: error.message }, message);
  };
  /** All leases last equally long, so none is delayed. Answers how long it waited, in milliseconds, at most a lease. */
  const untilOver = async (leaseEndsAt: RealTime, signal: AbortSignal): Promise<number> => {
    const left = Date.parse(leaseEndsAt) - Date.parse(realClock.realNow());
    const wait = Math.min(LEASE_MS, Math.max(0, left));
    if (wait > 0) await sleep(wait, signal);
    return wait;
  };
  /** One that cannot be ended at all must not keep the others waiting. */
  const end = async (id: RenegotiationId, afterMs: number, signal: AbortSignal): Promise<void> => {
    try {
      for (let waitedMs = afterMs; !signal.aborted; waitedMs += LEASE_PAUSE_MS) {
        if (await conclusion.attempt(id, waitedMs)) return;
        await sleep(LEASE_PAUSE_MS, signal);
      }
    } catch (error) {
      if (!(error instanceof UnreadableEventError)) throw error;
      leave(renegotiationStream(id), error);
    }
  };
  return actingOn(dependencies, {
    name: 'renegotiation-recovery',
    asking: ASKING,
    act: async (events, signal) => {
      const leases = new Map<RenegotiationId, RealTime>();
      for (const recorded of events) {
        const event = readOrLeave(decodeEvent, recorded, (error) => leave(recorded.stream, error));
        if (event?.type === 'RenegotiationStarted' || event?.type === 'LoanReserved')
          leases.set(event.renegotiationId, event.leaseEndsAt);
      }
      for (const [id, leaseEndsAt] of leases) await end(id, await untilOver(leaseEndsAt, signal), signal);
    },
  });
};
