import type { EventStoreDBClient, ReadStreamOptions, StreamingRead } from '@eventstore/db-client';
import { NotLeaderError, StreamNotFoundError, UnavailableError } from '@eventstore/db-client';
import type { ResolvedEvent } from '@eventstore/db-client';
import type { RecordedEvent, StreamRevision } from '../../application/ports/event-store.ts';
import { toRecordedEvent } from './event-wire.ts';
import { unavailable, within } from './failures.ts';

export interface StreamContents {
  readonly events: readonly RecordedEvent[];
  readonly revision: StreamRevision;
}

const ignore = (): void => undefined;

const collect = async (reading: StreamingRead<ResolvedEvent>): Promise<readonly RecordedEvent[]> => {
  const events: RecordedEvent[] = [];
  for await (const { event } of reading) if (event) events.push(toRecordedEvent(event));
  return events;
};

/** Reads single streams, from the leader, so that a read sees every append that was answered before. */
export class StreamReader {
  readonly #client: EventStoreDBClient;
  readonly #timeoutMs: number;

  constructor(client: EventStoreDBClient, timeoutMs: number) {
    this.#client = client;
    this.#timeoutMs = timeoutMs;
  }

  /** @throws StoreUnavailableError */
  async read(stream: string, from = 0n): Promise<StreamContents> {
    const events = await this.#read(stream, { fromRevision: from });
    const last = events?.at(-1);
    if (events && last) return { events, revision: last.revision };
    return { events: [], revision: events && from > 0n ? await this.head(stream) : 'no_stream' };
  }

  /** @throws StoreUnavailableError */
  async head(stream: string): Promise<StreamRevision> {
    return (await this.last(stream))?.revision ?? 'no_stream';
  }

  /** The stream's last event, if it has any. @throws StoreUnavailableError */
  async last(stream: string): Promise<RecordedEvent | undefined> {
    const events = await this.#read(stream, { direction: 'backwards', fromRevision: 'end', maxCount: 1 });
    return events?.[0];
  }

  /** At most so many events from there; none when the stream is absent or shorter. @throws StoreUnavailableError */
  async some(stream: string, from: bigint, count: number): Promise<readonly RecordedEvent[]> {
    return (await this.#read(stream, { fromRevision: from, maxCount: count })) ?? [];
  }

  /** Undefined when there is no such stream. */
  async #read(stream: string, options: ReadStreamOptions): Promise<readonly RecordedEvent[] | undefined> {
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.#once(stream, options);
      } catch (error) {
        if (error instanceof StreamNotFoundError) return undefined;
        // The first call after a connection was lost, or a leader moved, finds out about it; the next one goes elsewhere.
        const moved = error instanceof UnavailableError || error instanceof NotLeaderError;
        if (!moved || attempt > 0) throw unavailable(`reading ${stream}`, error);
      }
    }
  }

  /** The client ignores a deadline for reads, so a silent server is left after a time of our own. */
  async #once(stream: string, options: ReadStreamOptions): Promise<readonly RecordedEvent[]> {
    const reading = this.#client.readStream(stream, { ...options, requiresLeader: true });
    // An error that comes when nobody iterates any more would end the process.
    reading.on('error', ignore);
    try {
      return await within(collect(reading), this.#timeoutMs, `reading ${stream}`);
    } catch (error) {
      reading.cancel().catch(ignore);
      throw error;
    }
  }
}
