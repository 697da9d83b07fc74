import type { RenegotiationId } from '../../../domain/shared/identifiers.ts';
import type { ProjectedEvent, Projection } from '../../../projections/projection.ts';
import { replay } from '../../command-handling/operation.ts';
import type { Renegotiation } from '../../renegotiation/renegotiation.ts';
import { UnreadableEventError } from '../../event-codec/fields.ts';
import type { RelayQuarantine } from '../../publication/relay-quarantine.ts';
import type { EventStore, LogPosition, RecordedEvent } from '../../ports/event-store.ts';
import { RefusedWritesError } from '../../ports/read-models.ts';
import type { LogOrder, QuarantinedStream } from '../../ports/read-models.ts';
import type { ProjectionStore } from '../../projecting/projection-store.ts';
import { releaseWrite } from '../../projecting/quarantine.ts';
import {
  namesRenegotiation,
  operationsNamedBy,
  renegotiationIdOf,
} from '../../projecting/renegotiation-ties.ts';
import { messageOf } from '../../support/failures.ts';

interface Dependencies {
  readonly projections: readonly Projection[];
  readonly store: Pick<ProjectionStore, 'checkpoint' | 'quarantined' | 'apply'>;
  readonly relay: Pick<RelayQuarantine, 'list' | 'release'>;
  readonly events: Pick<EventStore, 'read'>;
  readonly decode: (event: RecordedEvent) => ProjectedEvent | undefined;
  readonly order: Pick<LogOrder, 'compare'>;
  readonly renegotiation: Pick<Renegotiation, 'resolve'>;
  readonly actors: readonly { resume(stream: string): Promise<void> }[];
}

export const PUBLISHING = 'publishing';
export interface QuarantinedOperation extends Omit<QuarantinedStream, 'position'> {
  readonly waitsFor: string;
}
export interface Release {
  readonly waitsFor: string;
  /** `asked`: the relay does it within seconds. */
  readonly outcome: 'released' | 'asked' | 'still_waits';
  readonly reason?: string;
  /** Streams that were released, or go on waiting, with it: a renegotiation and its operations are one. */
  readonly together?: readonly string[];
}

interface Group {
  readonly entries: readonly QuarantinedStream[];
  readonly events: ReadonlyMap<string, StreamContents>;
}
interface Concluded {
  readonly entries: readonly Pick<QuarantinedStream, 'stream'>[];
  readonly events: ReadonlyMap<string, StreamContents>;
}
type StreamContents = Awaited<ReturnType<EventStore['read']>>;

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
    const waits = (await relay.list()).some((entry) => entry.stream === stream);
    // Read models that were built anew by this program wait for nothing, but what acts on operations still left this one alone.
    const unreadable = waits && releases.length === 0 ? await this.#concludeAlone(stream) : undefined;
    if (unreadable)
      releases.push({ waitsFor: PUBLISHING, outcome: 'still_waits', reason: unreadable.message });
    else if (await relay.release(stream)) releases.push({ waitsFor: PUBLISHING, outcome: 'asked' });
    return releases;
  }

  async #concludeAlone(stream: string): Promise<Error | undefined> {
    const events = new Map([[stream, await this.#deps.events.read(stream)]]);
    try {
      await this.#conclude({ entries: [{ stream }], events });
      return undefined;
    } catch (error) {
      if (isOfTheEvents(error)) return error;
      throw error;
    }
  }

  /** Of a renegotiation and its operations everything comes in at once or not at all. */
  async #project(projection: Projection, stream: string): Promise<Release | undefined> {
    const { store } = this.#deps;
    const waitsFor = projection.name;
    let concluded = false;
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const place = await store.checkpoint(projection);
      const group = await this.#groupOf(stream, await store.quarantined(projection));
      if (!group) return attempt === 0 ? undefined : { waitsFor, outcome: 'released' };
      if (place === 'start')
        throw new Error(`${projection.name} has no place, and yet an operation waits for it`);
      const others = group.entries.map((entry) => entry.stream).filter((one) => one !== stream);
      const release = { waitsFor, ...(others.length > 0 && { together: others }) };
      try {
        const writes = this.#waitingOf(group, place).flatMap((event) => this.#writesOf(projection, event));
        if (!concluded) {
          await this.#conclude(group);
          concluded = true;
          // Its events belong to what is taken in.
          continue;
        }
        const releases = group.entries.map((entry) => releaseWrite(projection, entry));
        if (await store.apply(projection, [...releases, ...writes], place, place))
          return { ...release, outcome: 'released' };
      } catch (error) {
        if (!isOfTheEvents(error)) throw error;
        return { ...release, outcome: 'still_waits', reason: error.message };
      }
    }
    throw new Error(`the read model ${projection.name} moved on at every attempt: try again`);
  }

  /** Undefined when the stream does not wait. */
  async #groupOf(stream: string, entries: readonly QuarantinedStream[]): Promise<Group | undefined> {
    const first = entries.find((entry) => entry.stream === stream);
    if (!first) return undefined;
    const alone = entries.every((entry) => renegotiationIdOf(entry.stream) === undefined);
    const events = new Map<string, StreamContents>();
    for (const entry of alone ? [first] : entries)
      events.set(entry.stream, await this.#deps.events.read(entry.stream));
    const group = new Set([first]);
    for (const one of group)
      for (const other of alone ? [] : entries)
        if (areTied(one.stream, other.stream, events) || areTied(other.stream, one.stream, events))
          group.add(other);
    return { entries: [...group], events };
  }

  /** What met an event that it could not read left the operation, or the renegotiation, as it was; now that is made up for. */
  async #conclude({ entries, events }: Concluded): Promise<void> {
    const ids = new Set<string>();
    for (const { stream } of entries) {
      const id = renegotiationIdOf(stream);
      if (id !== undefined) {
        ids.add(id);
        continue;
      }
      const { state } = replay(events.get(stream)!.events, events.get(stream)!.revision);
      if (state.status === 'reserved' || state.status === 'code_reserved') ids.add(state.renegotiationId);
    }
    for (const id of ids) await this.#deps.renegotiation.resolve(id as RenegotiationId);
    for (const { stream } of entries) for (const actor of this.#deps.actors) await actor.resume(stream);
  }

  /** Later ones come to the projection by themselves. */
  #waitingOf({ entries, events }: Group, place: LogPosition): readonly RecordedEvent[] {
    const { compare } = this.#deps.order;
    return entries
      .flatMap(({ stream, position: since }) =>
        events
          .get(stream)!
          .events.filter(({ position }) => compare(position, since) >= 0 && compare(position, place) <= 0),
      )
      .sort((one, other) => compare(one.position, other.position));
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

const areTied = (
  renegotiation: string,
  operation: string,
  events: ReadonlyMap<string, StreamContents>,
): boolean => {
  const id = renegotiationIdOf(renegotiation);
  if (id === undefined) return false;
  return (
    events.get(operation)!.events.some((event) => namesRenegotiation(event, id)) ||
    events.get(renegotiation)!.events.some((event) => operationsNamedBy(event).includes(operation))
  );
};

const isOfTheEvents = (error: unknown): error is Error =>
  error instanceof UntakenEventError ||
  error instanceof RefusedWritesError ||
  error instanceof UnreadableEventError;
