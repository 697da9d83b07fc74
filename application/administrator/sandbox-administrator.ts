import type { LoanCommand } from '../../domain/loan/commands.ts';
import type { RejectionReason } from '../../domain/loan/events.ts';
import type { LoanState } from '../../domain/loan/state.ts';
import type { CalendarDate } from '../../domain/shared/calendar-date.ts';
import { DomainError } from '../../domain/shared/domain-error.ts';
import type { Timestamp } from '../../domain/shared/identifiers.ts';
import { LOAN_STREAM_PREFIX } from '../command-handling/operation.ts';
import { notEarlier } from '../event-codec/event-codec.ts';
import { UnreadableEventError } from '../event-codec/fields.ts';
import type { BusinessClock } from '../ports/clock.ts';
import type { EventStore, RecordedEvent } from '../ports/event-store.ts';
import { actingOn } from '../processors/acting.ts';
import type { Following } from '../processors/acting.ts';
import type { Runner } from '../processors/runner.ts';
import type { CarryOut } from './decisions.ts';

interface Dependencies extends Following {
  /** Milliseconds between two steps of an operation. */
  readonly step: number;
  readonly carryOut: CarryOut;
  readonly events: Pick<EventStore, 'read'>;
  readonly clock: BusinessClock;
}

interface At {
  readonly now: Timestamp;
  readonly today: CalendarDate;
}
type NextStep = (state: LoanState, at: At) => LoanCommand | undefined;

const ASKED_FOR: readonly RejectionReason[] = [
  { code: 'sandbox_outcome', message: 'The request asked for it with X-Sandbox-Outcome: reject.' },
];

/** A step towards the disbursement, unless the request asked for another outcome. */
const unlessAskedOtherwise =
  (step: NextStep): NextStep =>
  (state, at) => {
    const asked = 'sandboxOutcome' in state ? state.sandboxOutcome : undefined;
    if (asked === 'hold') return undefined;
    if (asked === 'reject' && state.status === 'received')
      return { type: 'RejectLoan', reasons: ASKED_FOR, now: at.now };
    return step(state, at);
  };

const disburse: NextStep = (state, { now, today }) =>
  state.status === 'term_signed'
    ? {
        type: 'DisburseLoan',
        disbursementDate: today < state.dateIssued ? state.dateIssued : today,
        disbursedValue: state.sandboxDisbursement ?? state.acquisitionValue,
        now,
      }
    : undefined;

/** What follows each stored event; a sandbox approves everything that did not ask for something else. */
const next: Readonly<Record<string, NextStep>> = {
  'loan.received.v1': unlessAskedOtherwise((_, { now }) => ({ type: 'ApproveLoan', now })),
  'loan.approved.v1': unlessAskedOtherwise((_, { now }) => ({ type: 'SignLoanTerm', now })),
  'loan.term_signed.v1': unlessAskedOtherwise(disburse),
  'loan.repurchase_requested.v1': (_, { now }) => ({ type: 'CompleteRepurchase', now }),
};

const MAX_IN_FLIGHT = 64;

/** All that it needs is in the log and in one checkpoint: after a restart it goes on; decided twice is decided once. */
export class SandboxAdministrator {
  readonly #deps: Dependencies;
  readonly #runner: Runner<never>;

  constructor(dependencies: Dependencies) {
    this.#deps = dependencies;
    this.#runner = actingOn(dependencies, {
      name: 'sandbox-administrator',
      streamPrefix: LOAN_STREAM_PREFIX,
      asking: new Set(Object.keys(next)),
      act: (events, signal) => this.#decideAll(events, signal),
    });
  }

  /** Works until the signal ends; then the decision in hand is finished and nothing is lost. */
  run(signal: AbortSignal): Promise<void> {
    return this.#runner.run(signal);
  }

  async resume(stream: string): Promise<void> {
    const { events } = await this.#deps.events.read(stream);
    const last = events.findLast(({ type }) => next[type]);
    if (last) await this.#decide(last);
  }

  /** Every event waits the same time, so waiting for them in order delays none. */
  async #decideAll(events: readonly RecordedEvent[], signal: AbortSignal): Promise<void> {
    const inFlight = new Set<Promise<void>>();
    let failure: unknown;
    for (const event of events) {
      await this.#untilDue(event, signal);
      if (inFlight.size >= MAX_IN_FLIGHT) await Promise.race(inFlight);
      if (signal.aborted || failure !== undefined) break;
      const decision: Promise<void> = this.#decide(event)
        .catch((error: unknown) => void (failure ??= error))
        .finally(() => inFlight.delete(decision));
      inFlight.add(decision);
    }
    await Promise.all(inFlight);
    if (failure !== undefined)
      throw failure instanceof Error ? failure : new Error('a decision failed', { cause: failure });
  }

  async #untilDue(event: RecordedEvent, signal: AbortSignal): Promise<void> {
    const wait = Date.parse(event.metadata.recordedAt) + this.#deps.step - Date.parse(this.#deps.clock.now());
    if (wait > 0) await this.#deps.sleep(Math.min(wait, this.#deps.step), signal);
  }

  async #decide(event: RecordedEvent): Promise<void> {
    const step = next[event.type];
    if (!step) return;
    const now = notEarlier(this.#deps.clock.now(), event.metadata.recordedAt);
    try {
      await this.#deps.carryOut({
        stream: event.stream,
        applicationId: event.metadata.applicationId,
        decisionId: `sandbox-${event.id}`,
        causationId: event.id,
        command: (state) => step(state, { now, today: this.#deps.clock.today() }),
      });
    } catch (error) {
      if (error instanceof UnreadableEventError) {
        const message = 'the sandbox decides nothing of an operation until `receivables quarantine release`';
        this.#deps.logger.error({ stream: event.stream, error: error.message }, message);
        return;
      }
      if (!(error instanceof DomainError)) throw error;
      // The operation went another way meanwhile: there is nothing left to decide.
      this.#deps.logger.warn(
        { event_id: event.id, stream: event.stream, reason: error.message },
        'sandbox decision refused',
      );
    }
  }
}
