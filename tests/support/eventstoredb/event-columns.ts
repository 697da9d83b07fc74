import type { StoredEvent } from './event-log.ts';

const CHUNK = 1 << 24;

/** Pieces of bytes in the order in which they came, in a few large buffers: an object for each would take more room than the bytes. */
class ByteStore {
  readonly #chunks: Buffer[] = [];
  /** Of each piece: its chunk, and where in it the piece begins and ends. */
  readonly #chunk: number[] = [];
  readonly #from: number[] = [];
  readonly #to: number[] = [];
  #used = 0;

  add(bytes: Buffer): void {
    let chunk = this.#chunks.at(-1);
    if (!chunk || this.#used + bytes.length > chunk.length) {
      chunk = Buffer.allocUnsafeSlow(Math.max(CHUNK, bytes.length));
      this.#chunks.push(chunk);
      this.#used = 0;
    }
    this.#chunk.push(this.#chunks.length - 1);
    this.#from.push(this.#used);
    this.#used += bytes.copy(chunk, this.#used);
    this.#to.push(this.#used);
  }

  at(index: number): Buffer {
    return this.#chunks[this.#chunk[index]!]!.subarray(this.#from[index], this.#to[index]);
  }
}

/** What most events of a log share with many others. */
type Kind = Pick<StoredEvent, 'type' | 'contentType'>;

/** The events of a log, in its order. Each is an object only for whoever looks at it. */
export class EventColumns {
  readonly positions: number[] = [];
  readonly #ids: string[] = [];
  readonly #kinds: Kind[] = [];
  readonly #streams: string[] = [];
  readonly #revisions: number[] = [];
  readonly #created: number[] = [];
  readonly #data = new ByteStore();
  readonly #metadata = new ByteStore();
  readonly #knownKinds = new Map<string, Kind>();

  get size(): number {
    return this.positions.length;
  }

  add(event: StoredEvent): void {
    this.positions.push(event.position);
    this.#ids.push(event.id);
    this.#kinds.push(this.#kindOf(event));
    this.#streams.push(event.stream);
    this.#revisions.push(event.revision);
    this.#created.push(event.created);
    this.#data.add(event.data);
    this.#metadata.add(event.metadata);
  }

  at(place: number): StoredEvent {
    const { type, contentType } = this.#kinds[place]!;
    return {
      id: this.#ids[place]!,
      type,
      contentType,
      data: this.#data.at(place),
      metadata: this.#metadata.at(place),
      stream: this.#streams[place]!,
      revision: this.#revisions[place]!,
      position: this.positions[place]!,
      created: this.#created[place]!,
    };
  }

  #kindOf({ type, contentType }: Kind): Kind {
    const key = `${contentType} ${type}`;
    const kind = this.#knownKinds.get(key) ?? { type, contentType };
    this.#knownKinds.set(key, kind);
    return kind;
  }
}
