import { loanDecider } from '../../domain/loan/index.ts';
import type { LoanDisbursed } from '../../domain/loan/index.ts';
import { DomainError } from '../../domain/shared/domain-error.ts';
import type { LoanCode } from '../../domain/shared/identifiers.ts';
import type { CommandHandler } from '../command-handling/command-handler.ts';
import { loanStream, parseLoanStream } from '../command-handling/operation.ts';
import { loanEntries } from '../event-codec/entries.ts';
import { decodeLoanEvent, readOrLeave } from '../event-codec/event-codec.ts';
import { UnreadableEventError } from '../event-codec/fields.ts';
import type { EventStore, RecordedEvent } from '../ports/event-store.ts';
import { actingOn } from '../processors/acting.ts';
import type { Following } from '../processors/acting.ts';
import type { Runner } from '../processors/runner.ts';

interface Dependencies extends Following {
  readonly commands: CommandHandler;
  readonly events: Pick<EventStore, 'read'>;
}

/** An operation that cannot be read is left as it is and keeps no other waiting; `resume` makes up for it. */
export class CompleteRenegotiations {
  readonly #deps: Dependencies;
  readonly #runner: Runner<never>;

  constructor(dependencies: Dependencies) {
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
