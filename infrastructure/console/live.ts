import type { ServerResponse } from 'node:http';
import type { Person } from '../../application/desk/rights.ts';

const LOOK_EVERY_MS = 2_000;
const MOST_STREAMS = 16;

interface LiveParts {
  readonly changes: () => Promise<string>;
  readonly onError: (error: unknown) => void;
  readonly lookEveryMs?: number;
}

interface Stream {
  readonly goesOn: () => boolean | Promise<boolean>;
  readonly owner: string;
}

/** Whose something is: that of a person, or of all who came in without signing in. */
export const ownerOf = (person: Person | undefined): string =>
  person === undefined ? '' : JSON.stringify([person.issuer, person.subject]);

/** As a header and a page can say it. */
export const ownerText = (person: Person | undefined): string => encodeURIComponent(ownerOf(person));

/** Tells open pages that something has changed; what it is, they fetch. One look serves all of them, and none is taken while no page is open. */
export class Live {
  readonly #parts: LiveParts;
  readonly #streams = new Map<ServerResponse, Stream>();
  /** Streams that were told nothing yet. Their pages may be older than the first look, so they hear of a change at once. */
  readonly #fresh = new Set<ServerResponse>();
  #timer: NodeJS.Timeout | undefined;
  #looking = false;
  #last: string | undefined;

  constructor(parts: LiveParts) {
    this.#parts = parts;
  }

  /** False when its owner has as many streams open as may be. */
  open(response: ServerResponse, goesOn: Stream['goesOn'], owner = ''): boolean {
    const own = [...this.#streams.values()].filter((stream) => stream.owner === owner);
    if (own.length >= MOST_STREAMS) return false;
    this.#streams.set(response, { goesOn, owner });
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

  async #endWithItsSession(response: ServerResponse, { goesOn }: Stream): Promise<void> {
    try {
      if (!(await goesOn()) && this.#streams.has(response)) this.#end(response, 'event: ended\ndata: -\n\n');
    } catch {
      // It stays until the next look, which tells of what is away.
    }
  }

  async #look(): Promise<void> {
    for (const [response, stream] of this.#streams) void this.#endWithItsSession(response, stream);
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
