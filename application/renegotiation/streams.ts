import { renegotiationDecider } from '../../domain/renegotiation/decider.ts';
import type { RenegotiationEvent, RenegotiationState } from '../../domain/renegotiation/state.ts';
import { stateAfter } from '../../domain/shared/decider.ts';
import type { Decider } from '../../domain/shared/decider.ts';
import type { RenegotiationId } from '../../domain/shared/identifiers.ts';
import { renegotiationStream, advance, fundOf, replay } from '../command-handling/operation.ts';
import type { Operation, UsedKey } from '../command-handling/operation.ts';
import { BEFORE_THE_FIRST, decodeRenegotiationEvent, eventsAfter } from '../event-codec/event-codec.ts';
import type { Last } from '../event-codec/event-codec.ts';
import { ConcurrencyError } from '../ports/event-store.ts';
import type { EventMetadata, EventStore, EventToAppend, StreamRevision } from '../ports/event-store.ts';
import { derivedId } from '../publication/public-events.ts';
import { retryAppend } from '../support/retry.ts';
import type { LoanCommand, LoanEvent, LoanState } from '../../domain/loan/index.ts';
import { DomainError } from '../../domain/shared/domain-error.ts';
import type { OnAppended } from '../command-handling/command-handler.ts';

export type Acting = Omit<EventMetadata, 'hash' | 'idempotency'>;

export interface Coordinator {
  readonly id: RenegotiationId;
  readonly state: RenegotiationState;
  readonly revision: StreamRevision;
  readonly last: Last;
  readonly decision: EventToAppend | undefined;
}

/** Start, decision, completion: whichever of commit and abort gets the second place, the other one finds it taken. */
const DECISION = 1;

interface Dependencies {
  readonly events: EventStore;
  readonly pause: (ms: number) => Promise<void>;
}

export class Coordinators {
  readonly #deps: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#deps = dependencies;
  }

  async read(id: RenegotiationId): Promise<Coordinator> {
    const { events, revision } = await this.#deps.events.read(renegotiationStream(id));
    return {
      ...{ id, revision, decision: events[DECISION] },
      state: stateAfter(renegotiationDecider, events.map(decodeRenegotiationEvent)),
      last: events.at(-1)?.metadata ?? BEFORE_THE_FIRST,
    };
  }

  /** The coordinator after the event. @throws ConcurrencyError when its stream has gone on since it was read */
  async append(coordinator: Coordinator, event: RenegotiationEvent, acting: Acting): Promise<Coordinator> {
    const { events, pause } = this.#deps;
    const { id, revision: expected } = coordinator;
    const stream = renegotiationStream(id);
    const idOf = (type: string): string => derivedId(id, type);
    const stored = eventsAfter(coordinator.last, stream, [event], { metadata: acting, idOf });
    const { revision } = await retryAppend(() => events.append(stream, expected, stored), pause);
    return {
      ...{ id, revision, last: stored[0]!.metadata },
      state: renegotiationDecider.evolve(coordinator.state, event),
      decision: coordinator.decision ?? (expected === 'no_stream' ? undefined : stored[0]),
    };
  }
}

export const noCoordinator = (id: RenegotiationId): Coordinator => ({
  id,
  state: renegotiationDecider.initialState,
  revision: 'no_stream',
  last: BEFORE_THE_FIRST,
  decision: undefined,
});

interface Stepping {
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
  readonly #deps: Stepping;

  constructor(dependencies: Stepping) {
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
