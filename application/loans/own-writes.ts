import { LRUCache } from 'lru-cache';

/** Bytes of an entry beside the name of its stream. */
const ENTRY_BYTES = 200;

/** What this process has written for each application and has not yet seen in the read model: revisions by stream. */
export class OwnWrites {
  readonly #byApplication = new Map<string, Map<string, bigint>>();
  readonly #writers: LRUCache<string, string>;

  /** @param bytes beyond which the oldest are forgotten: they are in the read model long since, unless it has come to a halt */
  constructor(bytes: number) {
    this.#writers = new LRUCache<string, string>({
      maxSize: Math.max(1, Math.floor(bytes)),
      sizeCalculation: (_, stream) => stream.length + ENTRY_BYTES,
      dispose: (applicationId, stream) => this.#forget(applicationId, stream),
    });
  }

  note(applicationId: string, stream: string, revision: bigint): void {
    this.#writers.set(stream, applicationId);
    const streams = this.#byApplication.get(applicationId) ?? new Map<string, bigint>();
    this.#byApplication.set(applicationId, streams.set(stream, revision));
  }

  of(applicationId: string): readonly (readonly [stream: string, revision: bigint])[] {
    return [...(this.#byApplication.get(applicationId) ?? [])];
  }

  /** The read model has it, or never will; a later write of the same stream stays. */
  seen(applicationId: string, stream: string, revision: bigint): void {
    if (this.#byApplication.get(applicationId)?.get(stream) === revision) this.#writers.delete(stream);
  }

  #forget(applicationId: string, stream: string): void {
    const streams = this.#byApplication.get(applicationId);
    if (streams?.delete(stream) && streams.size === 0) this.#byApplication.delete(applicationId);
  }
}
