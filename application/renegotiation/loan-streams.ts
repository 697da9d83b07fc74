import type { LoanCommand, LoanEvent, LoanState } from '../../domain/loan/index.ts';
import type { Decider } from '../../domain/shared/decider.ts';
import { DomainError } from '../../domain/shared/domain-error.ts';
import type { RenegotiationId } from '../../domain/shared/identifiers.ts';
import type { OnAppended } from '../command-handling/command-handler.ts';
import { advance, fundOf, replay } from '../command-handling/operation.ts';
import type { Operation, UsedKey } from '../command-handling/operation.ts';
import { eventsAfter } from '../event-codec/event-codec.ts';
import { ConcurrencyError } from '../ports/event-store.ts';
import type { EventMetadata, EventStore } from '../ports/event-store.ts';
import { derivedId } from '../publication/public-events.ts';
import { retryAppend } from '../support/retry.ts';

interface Dependencies {
  readonly events: EventStore;
  readonly loans: Decider<LoanState, LoanCommand, LoanEvent>;
  readonly forget: (stream: string) => unknown;
  readonly pause: (ms: number) => Promise<void>;
  readonly onAppended?: OnAppended | undefined;
}

export interface Step {
  readonly renegotiationId: RenegotiationId;
  readonly stream: string;
  readonly command: LoanCommand;
  /** Without the hash. The same in every process that takes the step, so that all of them write the same bytes. */
  readonly metadata: Omit<EventMetadata, 'hash' | 'idempotency' | 'fundId'>;
  readonly idempotency?: UsedKey;
}

const MAX_TRIES = 20;

/** By the rules of every command, but past their queue, which may be waiting for this very renegotiation. */
export class LoanStreams {
  readonly #deps: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#deps = dependencies;
  }

  async load(stream: string): Promise<Operation> {
    const { events, revision } = await this.#deps.events.read(stream);
    return replay(events, revision);
  }

  /** Every try looks at the state again. @throws DomainError when the state does not allow it */
  async take(step: Step): Promise<Operation> {
    for (let attempt = 0; attempt < MAX_TRIES; attempt++) {
      const operation = await this.load(step.stream);
      const decided = this.#deps.loans.decide(step.command, operation.state);
      if (decided.length === 0) return operation;
      try {
        return await this.#append(step, operation, decided);
      } catch (error) {
        if (!(error instanceof ConcurrencyError)) throw error;
      } finally {
        this.#deps.forget(step.stream);
      }
    }
    throw new DomainError(
      'concurrent_modification',
      'the operation kept changing meanwhile; send the request again',
    );
  }

  async #append(step: Step, operation: Operation, decided: readonly LoanEvent[]): Promise<Operation> {
    const { events, pause, onAppended } = this.#deps;
    const { renegotiationId, stream, idempotency } = step;
    const metadata = {
      ...step.metadata,
      ...fundOf(operation.state, decided),
      ...(idempotency && { idempotency }),
    };
    // Ids follow from the renegotiation and the step, so a step that is taken twice at once is stored once.
    const idOf = (type: string): string => derivedId(renegotiationId, `${type} ${stream}`);
    const stored = eventsAfter(operation, stream, decided, { metadata, idOf });
    const { revision } = await retryAppend(() => events.append(stream, operation.revision, stored), pause);
    onAppended?.(metadata.applicationId, stream, revision);
    return advance(operation, decided, stored, revision);
  }
}
