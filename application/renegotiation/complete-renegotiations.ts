import { loanDecider } from '../../domain/loan/index.ts';
import type { LoanDisbursed } from '../../domain/loan/index.ts';
import { DomainError } from '../../domain/shared/domain-error.ts';
import type { LoanCode } from '../../domain/shared/identifiers.ts';
import type { CommandHandler } from '../command-handling/command-handler.ts';
import { loanStream } from '../command-handling/operation.ts';
import { LogFollower } from '../coordination/log-follower.ts';
import type { LogFollowing } from '../coordination/log-follower.ts';
import { loanDisbursed } from '../event-codec/entries.ts';
import { decodeLoanEvent } from '../event-codec/event-codec.ts';
import type { RecordedEvent } from '../ports/event-store.ts';

interface Dependencies extends LogFollowing {
  readonly commands: CommandHandler;
}

/** Tells every original, once the operation that replaces it is active, that its renegotiation is through. */
export class CompleteRenegotiations {
  readonly #deps: Dependencies;
  readonly #follower: LogFollower;

  constructor(dependencies: Dependencies) {
    this.#deps = dependencies;
    this.#follower = new LogFollower(dependencies, {
      name: 'renegotiation-completion',
      handle: async (events, signal) => {
        for (const recorded of events) if (!signal.aborted) await this.#follow(recorded);
      },
    });
  }

  async run(signal: AbortSignal): Promise<void> {
    await this.#follower.run(signal);
  }

  async #follow(recorded: RecordedEvent): Promise<void> {
    if (recorded.type !== loanDisbursed.storedType) return;
    const event = decodeLoanEvent(recorded);
    if (event.type !== 'LoanDisbursed' || !event.renegotiation) return;
    for (const code of event.renegotiation.originalProposalCodes) await this.#complete(recorded, event, code);
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
      // Retryable refusals come back with the checkpoint; any other would come back for ever.
      if (!(error instanceof DomainError) || error.code === 'concurrent_modification') throw error;
      this.#deps.logger.error({ stream, reason: error.message }, 'a renegotiation could not be completed');
    }
  }
}
