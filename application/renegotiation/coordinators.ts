import { renegotiationDecider } from '../../domain/renegotiation/index.ts';
import type { RenegotiationEvent, RenegotiationState } from '../../domain/renegotiation/index.ts';
import { stateAfter } from '../../domain/shared/decider.ts';
import type { RenegotiationId } from '../../domain/shared/identifiers.ts';
import { renegotiationStream } from '../command-handling/operation.ts';
import { BEFORE_THE_FIRST, decodeRenegotiationEvent, eventsAfter } from '../event-codec/event-codec.ts';
import type { Last } from '../event-codec/event-codec.ts';
import type { EventMetadata, EventStore, EventToAppend, StreamRevision } from '../ports/event-store.ts';
import { derivedId } from '../publication/public-events.ts';
import { retryAppend } from '../support/retry.ts';

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
