import { renegotiationDecider } from '../../domain/renegotiation/index.ts';
import type { RenegotiationEvent, RenegotiationState } from '../../domain/renegotiation/index.ts';
import type { RenegotiationId } from '../../domain/shared/identifiers.ts';
import { renegotiationStream } from '../command-handling/operation.ts';
import {
  CHAIN_START,
  chainEvents,
  decodeRenegotiationEvent,
  encodeEvent,
  notEarlier,
} from '../event-codec/event-codec.ts';
import type { EventMetadata, EventStore, EventToAppend, StreamRevision } from '../ports/event-store.ts';
import { derivedId } from '../publication/public-events.ts';
import { retryAppend } from '../support/retry.ts';

export type Acting = Omit<EventMetadata, 'hash' | 'idempotency'>;

export interface Coordinator<State extends RenegotiationState = RenegotiationState> {
  readonly id: RenegotiationId;
  readonly state: State;
  readonly revision: StreamRevision;
  readonly hash: string;
  readonly recordedAt: string | undefined;
  /** Commit or abort, as stored; undefined before there is one. */
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
    const state = events
      .map(decodeRenegotiationEvent)
      .reduce(
        (before, event) => renegotiationDecider.evolve(before, event),
        renegotiationDecider.initialState,
      );
    return {
      id,
      state,
      revision,
      hash: events.at(-1)?.metadata.hash ?? CHAIN_START,
      recordedAt: events.at(-1)?.metadata.recordedAt,
      decision: events[DECISION],
    };
  }

  /** The coordinator after the event. @throws ConcurrencyError when its stream has gone on since it was read */
  async append(coordinator: Coordinator, event: RenegotiationEvent, acting: Acting): Promise<Coordinator> {
    const { events, pause } = this.#deps;
    const { id, revision: expected } = coordinator;
    const stream = renegotiationStream(id);
    const metadata = { ...acting, recordedAt: notEarlier(acting.recordedAt, coordinator.recordedAt) };
    const stored = chainEvents(coordinator.hash, stream, [
      { id: derivedId(id, event.type), ...encodeEvent(event), metadata },
    ]);
    const { revision } = await retryAppend(() => events.append(stream, expected, stored), pause);
    return {
      id,
      state: renegotiationDecider.evolve(coordinator.state, event),
      revision,
      hash: stored.at(-1)?.metadata.hash ?? coordinator.hash,
      recordedAt: metadata.recordedAt,
      decision: coordinator.decision ?? (expected === 'no_stream' ? undefined : stored[0]),
    };
  }
}

export const noCoordinator = (id: RenegotiationId): Coordinator => ({
  id,
  state: renegotiationDecider.initialState,
  revision: 'no_stream',
  hash: CHAIN_START,
  recordedAt: undefined,
  decision: undefined,
});
