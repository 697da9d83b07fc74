import type { Projection } from '../../../projections/projection.ts';
import type { EventStore, LogPosition } from '../../ports/event-store.ts';
import type { QuarantinedStream } from '../../ports/read-models.ts';
import type { ProjectionStore } from '../../projecting/projection-store.ts';
import {
  operationsNamedBy,
  renegotiationIdOf,
  renegotiationsNamedBy,
} from '../../projecting/renegotiation-ties.ts';

export type StreamContents = Awaited<ReturnType<EventStore['read']>>;

interface Sources {
  readonly store: Pick<ProjectionStore, 'checkpoint' | 'quarantined'>;
  readonly events: Pick<EventStore, 'read'>;
}

/** What can only be taken in together, at this place of the projection. */
export interface Group {
  readonly place: LogPosition;
  readonly entries: readonly QuarantinedStream[];
  readonly events: ReadonlyMap<string, StreamContents>;
}

/** What waits for a projection, and what with what: read once for many releases, and again where the projection has moved on. */
export class WaitingStreams {
  readonly #projection: Projection;
  readonly #sources: Sources;
  #place: LogPosition | 'start' | undefined;
  #entries = new Map<string, QuarantinedStream>();
  #ties = new Map<string, Set<string>>();

  constructor(projection: Projection, sources: Sources) {
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
