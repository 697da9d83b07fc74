import type { RealTime, RenegotiationId, LoanCode } from '../../domain/shared/identifiers.ts';
import { renegotiationStream, loanStream, parseLoanStream } from '../command-handling/operation.ts';
import { decodeEvent, readOrLeave, decodeLoanEvent } from '../event-codec/event-codec.ts';
import { loanEntries, renegotiationEntries } from '../event-codec/entries.ts';
import { UnreadableEventError } from '../event-codec/fields.ts';
import type { RealClock } from '../ports/clock.ts';
import { actingOn } from '../processors/acting.ts';
import type { Following } from '../processors/acting.ts';
import type { Runner } from '../processors/runner.ts';
import { LEASE_MS } from './roll-forward.ts';
import type { RollForward } from './roll-forward.ts';
import { loanDecider } from '../../domain/loan/index.ts';
import type { LoanDisbursed } from '../../domain/loan/index.ts';
import { DomainError } from '../../domain/shared/domain-error.ts';
import type { CommandHandler } from '../command-handling/command-handler.ts';
import type { EventStore, RecordedEvent } from '../ports/event-store.ts';

interface Recovering extends Following {
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
export const recoverRenegotiations = (dependencies: Recovering): Runner<never> => {
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

interface Completing extends Following {
  readonly commands: CommandHandler;
  readonly events: Pick<EventStore, 'read'>;
}

/** An operation that cannot be read is left as it is and keeps no other waiting; `resume` makes up for it. */
export class CompleteRenegotiations {
  readonly #deps: Completing;
  readonly #runner: Runner<never>;

  constructor(dependencies: Completing) {
    this.#deps = dependencies;
    this.#runner = actingOn(dependencies, {
      name: 'renegotiation-completion',
      asking: new Set([loanEntries.LoanDisbursed.storedType]),
      act: async (events, signal) => {
        for (const recorded of events) if (!signal.aborted) await this.#follow(recorded);
      },
    });
  }

  run(signal: AbortSignal): Promise<void> {
    return this.#runner.run(signal);
  }

  /** What was left while this operation could not be read: told by it as a new one, or to it as an original. */
  async resume(stream: string): Promise<void> {
    const operation = parseLoanStream(stream);
    if (!operation) return;
    const { events } = await this.#deps.events.read(stream);
    for (const recorded of events) {
      await this.#follow(recorded);
      const event =
        recorded.type === loanEntries.LoanRenegotiated.storedType ? decodeLoanEvent(recorded) : undefined;
      if (event?.type !== 'LoanRenegotiated') continue;
      const replacing = loanStream(operation.applicationId, event.renegotiation.newProposalCode);
      for (const told of (await this.#deps.events.read(replacing)).events) await this.#follow(told);
    }
  }

  async #follow(recorded: RecordedEvent): Promise<void> {
    if (recorded.type !== loanEntries.LoanDisbursed.storedType) return;
    const event = readOrLeave(decodeLoanEvent, recorded, (error) => this.#leave(recorded.stream, error));
    if (event?.type !== 'LoanDisbursed' || !event.renegotiation) return;
    for (const code of event.renegotiation.originalProposalCodes) await this.#complete(recorded, event, code);
  }

  #leave(stream: string, error: Error): void {
    const message = 'the end of a renegotiation is not told until `receivables quarantine release`';
    this.#deps.logger.error({ stream, error: error.message }, message);
  }

  async #complete(recorded: RecordedEvent, event: LoanDisbursed, code: LoanCode): Promise<void> {
    const { renegotiation, disbursedAt: completedAt } = event;
    if (!renegotiation) return;
    const { renegotiationId } = renegotiation;
    const { applicationId, correlationId } = recorded.metadata;
    const stream = loanStream(applicationId, code);
    try {
      await this.#deps.commands.handle({
        stream,
        applicationId,
        actor: 'renegotiation',
        correlationId,
        causationId: recorded.id,
        decide: (state) =>
          loanDecider.decide({ type: 'CompleteRenegotiation', renegotiationId, completedAt }, state),
      });
    } catch (error) {
      if (error instanceof UnreadableEventError) return this.#leave(stream, error);
      // Retryable refusals come back with the checkpoint; any other would come back for ever.
      if (!(error instanceof DomainError) || error.code === 'concurrent_modification') throw error;
      this.#deps.logger.error({ stream, reason: error.message }, 'a renegotiation could not be completed');
    }
  }
}
