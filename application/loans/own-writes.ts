import { LOAN_STREAM_PREFIX } from '../command-handling/operation.ts';
import type { EventStore } from '../ports/event-store.ts';

/** Beyond these the oldest are forgotten: they are in the read model long since, unless it has come to a halt. */
const MOST_STREAMS = 5_000;
const MOST_APPLICATIONS = 1_000;

const makeRoom = (entries: Map<string, unknown>, most: number): void => {
  if (entries.size > most) entries.delete(entries.keys().next().value!);
};

/** What this process has written for each application and has not yet seen in the read model: revisions by stream. */
export class OwnWrites {
  readonly #byApplication = new Map<string, Map<string, bigint>>();

  note(applicationId: string, stream: string, revision: bigint): void {
    const streams = this.#byApplication.get(applicationId) ?? new Map<string, bigint>();
    this.#byApplication.set(applicationId, streams);
    makeRoom(this.#byApplication, MOST_APPLICATIONS);
    streams.delete(stream);
    streams.set(stream, revision);
    makeRoom(streams, MOST_STREAMS);
  }

  of(applicationId: string): readonly (readonly [stream: string, revision: bigint])[] {
    return [...(this.#byApplication.get(applicationId) ?? [])];
  }

  /** The read model has it, or never will; a later write of the same stream stays. */
  seen(applicationId: string, stream: string, revision: bigint): void {
    const streams = this.#byApplication.get(applicationId);
    if (streams?.get(stream) !== revision) return;
    streams.delete(stream);
    if (streams.size === 0) this.#byApplication.delete(applicationId);
  }
}

/** The same store; what is appended through it is noted. */
export const noting = (store: EventStore, writes: Pick<OwnWrites, 'note'>): EventStore => ({
  read: (stream, from) => store.read(stream, from),
  head: (stream) => store.head(stream),
  findClaim: (claim) => store.findClaim(claim),
  append: async (stream, expected, events, claim) => {
    const result = await store.append(stream, expected, events, claim);
    const owner = events[0]?.metadata.applicationId;
    if (owner !== undefined && stream.startsWith(LOAN_STREAM_PREFIX))
      writes.note(owner, stream, result.revision);
    return result;
  },
});
