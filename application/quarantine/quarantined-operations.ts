import type { ProjectedEvent, Projection } from '../../projections/projection.ts';
import type { RelayQuarantine } from '../ports/event-bus.ts';
import type { EventStore, LogPosition, RecordedEvent } from '../ports/event-store.ts';
import { RefusedWritesError } from '../ports/read-models.ts';
import type { LogOrder, ProjectionStore, QuarantinedStream } from '../ports/read-models.ts';
import { releaseWrite } from '../projecting/quarantine.ts';
import { messageOf } from '../support/failures.ts';

interface Dependencies {
  readonly projections: readonly Projection[];
  readonly store: Pick<ProjectionStore, 'checkpoint' | 'quarantined' | 'apply'>;
  readonly relay: Pick<RelayQuarantine, 'list' | 'release'>;
  readonly events: Pick<EventStore, 'read'>;
  readonly decode: (event: RecordedEvent) => ProjectedEvent | undefined;
  readonly order: Pick<LogOrder, 'compare'>;
}

/** Where an operation waits: for a read model, or for being published. */
export const PUBLISHING = 'publishing';
export interface QuarantinedOperation extends QuarantinedStream {
  readonly waitsFor: string;
}
export interface Release {
  readonly waitsFor: string;
  /** `asked`: the relay does it within seconds. */
  readonly outcome: 'released' | 'asked' | 'still_waits';
  readonly reason?: string;
}

/** A projector that runs beside it moves on now and then. */
const ATTEMPTS = 100;

/** Operations whose events wait because one of them could not be taken: they are shown, and let go once a program can take it. */
export class QuarantinedOperations {
  readonly #deps: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#deps = dependencies;
  }

  async list(): Promise<readonly QuarantinedOperation[]> {
    const { projections, store, relay } = this.#deps;
    const found: QuarantinedOperation[] = [];
    for (const projection of projections)
      for (const entry of await store.quarantined(projection))
        found.push({ ...entry, waitsFor: projection.name });
    for (const entry of await relay.list()) found.push({ ...entry, waitsFor: PUBLISHING });
    return found;
  }

  /** Tries again, everywhere where this operation waits; empty when it waits nowhere. */
  async release(stream: string): Promise<readonly Release[]> {
    const { projections, relay } = this.#deps;
    const releases: Release[] = [];
    for (const projection of projections) {
      const release = await this.#project(projection, stream);
      if (release) releases.push(release);
    }
    if (await relay.release(stream)) releases.push({ waitsFor: PUBLISHING, outcome: 'asked' });
    return releases;
  }

  /** Takes in what waited, in its order and in one transaction, as of the place that the projection has reached. */
  async #project(projection: Projection, stream: string): Promise<Release | undefined> {
    const { store, events } = this.#deps;
    const waitsFor = projection.name;
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const place = await store.checkpoint(projection);
      const entry = (await store.quarantined(projection)).find((one) => one.stream === stream);
      if (!entry) return attempt === 0 ? undefined : { waitsFor, outcome: 'released' };
      if (place === 'start')
        throw new Error(`${projection.name} has no place, and yet an operation waits for it`);
      try {
        const waiting = this.#upTo(place, entry, (await events.read(stream)).events);
        const writes = waiting.flatMap((event) => this.#writesOf(projection, event));
        if (await store.apply(projection, [releaseWrite(projection, entry), ...writes], place, place))
          return { waitsFor, outcome: 'released' };
      } catch (error) {
        if (!isOfTheEvents(error)) throw error;
        return { waitsFor, outcome: 'still_waits', reason: error.message };
      }
    }
    throw new Error(`the read model ${projection.name} moved on at every attempt: try again`);
  }

  /** Later ones come to the projection by themselves. */
  #upTo(
    place: LogPosition,
    { revision }: QuarantinedStream,
    events: readonly RecordedEvent[],
  ): readonly RecordedEvent[] {
    return events.filter(
      (event) => event.revision >= revision && this.#deps.order.compare(event.position, place) <= 0,
    );
  }

  #writesOf(projection: Projection, event: RecordedEvent) {
    try {
      const projected = this.#deps.decode(event);
      return projected ? projection.project(projected) : [];
    } catch (error) {
      const reason = messageOf(error);
      throw new UntakenEventError(`event ${event.revision} (${event.type}): ${reason}`, { cause: error });
    }
  }
}

class UntakenEventError extends Error {
  override readonly name = 'UntakenEventError';
}

const isOfTheEvents = (error: unknown): error is Error =>
  error instanceof UntakenEventError || error instanceof RefusedWritesError;
