import type { RenegotiationId } from '../../../domain/shared/identifiers.ts';
import type { ProjectedEvent, Projection } from '../../../projections/projection.ts';
import { replay } from '../../command-handling/operation.ts';
import type { RollForward } from '../../renegotiation/roll-forward.ts';
import { UnreadableEventError } from '../../event-codec/fields.ts';
import type { RelayQuarantine } from '../../publication/relay.ts';
import type { EventStore, LogPosition, RecordedEvent } from '../../ports/event-store.ts';
import { RefusedWritesError } from '../../ports/read-models.ts';
import type { LogOrder, QuarantinedStream } from '../../ports/read-models.ts';
import type { ProjectionStore } from '../../projecting/projection-store.ts';
import {
  releaseWrite,
  operationsNamedBy,
  renegotiationIdOf,
  renegotiationsNamedBy,
} from '../../projecting/quarantine.ts';
import { messageOf } from '../../support/failures.ts';

interface Dependencies {
  readonly projections: readonly Projection[];
  readonly store: Pick<ProjectionStore, 'checkpoint' | 'quarantined' | 'apply'>;
  readonly relay: Pick<RelayQuarantine, 'list' | 'waits' | 'release'>;
  readonly events: Pick<EventStore, 'read'>;
  readonly decode: (event: RecordedEvent) => ProjectedEvent | undefined;
  readonly order: Pick<LogOrder, 'compare'>;
  readonly renegotiation: Pick<RollForward, 'resolve'>;
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

type StreamContents = Awaited<ReturnType<EventStore['read']>>;

/** What can only be taken in together, at this place of the projection. */
interface Group {
  readonly place: LogPosition;
  readonly entries: readonly QuarantinedStream[];
  readonly events: ReadonlyMap<string, StreamContents>;
}

/** What waits for a projection, and what with what: read once for many releases, and again where the projection has moved on. */
class WaitingStreams {
  readonly #projection: Projection;
  readonly #sources: Pick<Dependencies, 'store' | 'events'>;
  #place: LogPosition | 'start' | undefined;
  #entries = new Map<string, QuarantinedStream>();
  #ties = new Map<string, Set<string>>();

  constructor(projection: Projection, sources: Pick<Dependencies, 'store' | 'events'>) {
    this.#projection = projection;
    this.#sources = sources;
  }

  async has(stream: string): Promise<boolean> {
    if (this.#place === undefined) await this.#read();
    return this.#entries.has(stream);
  }

  /** Undefined when the stream does not wait. */
  async groupOf(stream: string): Promise<Group | undefined> {
    if (!(await this.has(stream))) return undefined;
    const place = this.#place!;
    if (place === 'start')
      throw new Error(`${this.#projection.name} has no place, and yet an operation waits for it`);
    const streams = new Set([stream]);
    for (const one of streams) for (const other of this.#ties.get(one) ?? []) streams.add(other);
    const group = [...streams].filter((one) => this.#entries.has(one));
    const events = new Map<string, StreamContents>();
    for (const one of group) events.set(one, await this.#sources.events.read(one));
    return { place, entries: group.map((one) => this.#entries.get(one)!), events };
  }

  released({ entries }: Group): void {
    for (const { stream } of entries) this.#entries.delete(stream);
  }

  movedOn(): void {
    this.#place = undefined;
  }

  async #read(): Promise<void> {
    const { store } = this.#sources;
    const known = this.#entries;
    this.#place = await store.checkpoint(this.#projection);
    const entries = await store.quarantined(this.#projection);
    this.#entries = new Map(entries.map((entry) => [entry.stream, entry]));
    if (entries.some(({ stream }) => !known.has(stream))) await this.#tie();
  }

  /** Whichever of the two names the other: an event that cannot be read may hide what it names. */
  async #tie(): Promise<void> {
    this.#ties = new Map();
    const streams = [...this.#entries.keys()];
    if (streams.every((stream) => renegotiationIdOf(stream) === undefined)) return;
    const add = (one: string, other: string): void =>
      void this.#ties.set(one, (this.#ties.get(one) ?? new Set<string>()).add(other));
    for (const stream of streams) {
      const namedBy = renegotiationIdOf(stream) === undefined ? renegotiationsNamedBy : operationsNamedBy;
      const { events } = await this.#sources.events.read(stream);
      for (const other of new Set(events.flatMap(namedBy)))
        if (this.#entries.has(other)) {
          add(stream, other);
          add(other, stream);
        }
    }
  }
}

interface Concluded {
  readonly entries: readonly Pick<QuarantinedStream, 'stream'>[];
  readonly events: ReadonlyMap<string, StreamContents>;
}

/** A projector that runs beside it moves on now and then. */
const ATTEMPTS = 100;

/**
 * Operations whose events wait because one of them could not be taken: they are shown, and let go once a program can take it. Made for
 * one command: what waits is read once for all that it releases.
 */
export class QuarantinedOperations {
  readonly #deps: Dependencies;
  readonly #waiting: readonly (readonly [Projection, WaitingStreams])[];

  constructor(dependencies: Dependencies) {
    this.#deps = dependencies;
    this.#waiting = dependencies.projections.map((one) => [one, new WaitingStreams(one, dependencies)]);
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

  /** Of operations and renegotiations, each once, whatever it waits for. */
  async streams(): Promise<readonly string[]> {
    return [...new Set((await this.list()).map(({ stream }) => stream))];
  }

  async waits(stream: string): Promise<boolean> {
    for (const [, waiting] of this.#waiting) if (await waiting.has(stream)) return true;
    return this.#deps.relay.waits(stream);
  }

  /** Tries again, everywhere where this operation waits; empty when it waits nowhere. */
  async release(stream: string): Promise<readonly Release[]> {
    const { relay } = this.#deps;
    const releases: Release[] = [];
    for (const [projection, waiting] of this.#waiting) {
      const release = await this.#project(projection, waiting, stream);
      if (release) releases.push(release);
    }
    // Read models that were built anew by this program wait for nothing, but what acts on operations still left this one alone.
    const alone = releases.length === 0 && (await relay.waits(stream));
    const unreadable = alone ? await this.#concludeAlone(stream) : undefined;
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
  async #project(
    projection: Projection,
    waiting: WaitingStreams,
    stream: string,
  ): Promise<Release | undefined> {
    const { store } = this.#deps;
    const waitsFor = projection.name;
    let concluded = false;
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const group = await waiting.groupOf(stream);
      if (!group) return attempt === 0 ? undefined : { waitsFor, outcome: 'released' };
      const { place } = group;
      const others = group.entries.map((entry) => entry.stream).filter((one) => one !== stream);
      const release = { waitsFor, ...(others.length > 0 && { together: others }) };
      try {
        const writes = this.#eventsOf(group).flatMap((event) => this.#writesOf(projection, event));
        if (!concluded) {
          await this.#conclude(group);
          concluded = true;
          // Its events belong to what is taken in.
          continue;
        }
        const releases = group.entries.map((entry) => releaseWrite(projection, entry));
        if (await store.apply(projection, [...releases, ...writes], place, place)) {
          waiting.released(group);
          return { ...release, outcome: 'released' };
        }
        waiting.movedOn();
      } catch (error) {
        if (!isOfTheEvents(error)) throw error;
        return { ...release, outcome: 'still_waits', reason: error.message };
      }
    }
    throw new Error(`the read model ${projection.name} moved on at every attempt: try again`);
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
  #eventsOf({ entries, events, place }: Group): readonly RecordedEvent[] {
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

const isOfTheEvents = (error: unknown): error is Error =>
  error instanceof UntakenEventError ||
  error instanceof RefusedWritesError ||
  error instanceof UnreadableEventError;
