import type { ServerResponse } from 'node:http';

const LOOK_EVERY_MS = 2_000;
const MOST_STREAMS = 16;

interface LiveParts {
  /** Differs when something has changed. */
  readonly changes: () => Promise<string>;
  readonly onError: (error: unknown) => void;
  readonly lookEveryMs?: number;
}

/** Tells open pages that something has changed; what it is, they fetch. One look serves all of them, and none is taken while no page is open. */
export class Live {
  readonly #parts: LiveParts;
  readonly #streams = new Map<ServerResponse, () => boolean>();
  /** Streams that were told nothing yet. Their pages may be older than the first look, so they hear of a change at once. */
  readonly #fresh = new Set<ServerResponse>();
  #timer: NodeJS.Timeout | undefined;
  #looking = false;
  #last: string | undefined;

  constructor(parts: LiveParts) {
    this.#parts = parts;
  }

  /** False when as many streams are open as may be. @param goesOn whether its session still lives */
  open(response: ServerResponse, goesOn: () => boolean): boolean {
    if (this.#streams.size >= MOST_STREAMS) return false;
    this.#streams.set(response, goesOn);
    response.once('close', () => this.#leave(response));
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    response.write(': open\n\n');
    this.#fresh.add(response);
    this.#timer ??= setInterval(() => void this.#look(), this.#parts.lookEveryMs ?? LOOK_EVERY_MS);
    void this.#look();
    return true;
  }

  close(): void {
    for (const stream of this.#streams.keys()) this.#end(stream);
  }

  /** A look that is under way finds it gone: what has ended takes no further word. */
  #end(response: ServerResponse, last?: string): void {
    this.#leave(response);
    response.end(last);
  }

  #leave(response: ServerResponse): void {
    this.#streams.delete(response);
    this.#fresh.delete(response);
    if (this.#streams.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#last = undefined;
  }

  async #look(): Promise<void> {
    for (const [stream, goesOn] of this.#streams)
      if (!goesOn()) this.#end(stream, 'event: ended\ndata: -\n\n');
    if (this.#looking) return;
    this.#looking = true;
    try {
      const found = await this.#parts.changes();
      const changed = this.#last !== undefined && this.#last !== found;
      this.#last = found;
      for (const stream of this.#streams.keys()) {
        const tell = this.#fresh.delete(stream) || changed;
        // A page that does not read any more is not written to without end: its connection is cut.
        if (stream.writableNeedDrain) stream.destroy();
        else stream.write(tell ? 'event: changed\ndata: -\n\n' : ': \n\n');
      }
    } catch (error) {
      this.#parts.onError(error);
    } finally {
      this.#looking = false;
    }
  }
}
