import type { LoanVersions } from '../ports/loan-queries.ts';
import type { ReadModelProgress } from './read-loan.ts';

interface Waiter {
  readonly stream: string;
  readonly revision: bigint;
  readonly since: number;
  readonly answer: (applied: boolean) => void;
}

interface Dependencies {
  readonly versions: LoanVersions;
  readonly sleep: (ms: number) => Promise<void>;
  /** Milliseconds of a clock that never goes back. */
  readonly now: () => number;
}

const SHORTEST_PAUSE_MS = 5;
const LONGEST_PAUSE_MS = 100;
/** Streams in one query. */
const MOST_STREAMS = 500;

/**
 * Waits for a projector in another process by asking the read model: one query at a time for all that wait, the more seldom the
 * longer they do.
 */
export class PolledProgress implements ReadModelProgress {
  readonly #deps: Dependencies;
  readonly #waiters = new Set<Waiter>();
  #looking = false;

  constructor(dependencies: Dependencies) {
    this.#deps = dependencies;
  }

  waitForVersion(stream: string, revision: bigint, timeoutMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const answer = (applied: boolean): void => {
        clearTimeout(timer);
        this.#waiters.delete(waiter);
        resolve(applied);
      };
      const waiter = { stream, revision, since: this.#deps.now(), answer };
      const timer = setTimeout(answer, timeoutMs, false);
      this.#waiters.add(waiter);
      if (!this.#looking) void this.#look();
    });
  }

  async #look(): Promise<void> {
    this.#looking = true;
    while (this.#waiters.size > 0) {
      await this.#deps.sleep(this.#pause());
      await this.#lookOnce();
    }
    this.#looking = false;
  }

  /** Half as long as whoever came last has waited. */
  #pause(): number {
    const youngest = Math.max(...[...this.#waiters].map(({ since }) => since));
    return Math.min(LONGEST_PAUSE_MS, Math.max(SHORTEST_PAUSE_MS, (this.#deps.now() - youngest) / 2));
  }

  async #lookOnce(): Promise<void> {
    const asked = [...this.#waiters].slice(0, MOST_STREAMS);
    if (asked.length === 0) return;
    try {
      const versions = await this.#deps.versions.of([...new Set(asked.map(({ stream }) => stream))]);
      for (const waiter of asked) this.#note(waiter, versions.get(waiter.stream));
    } catch {
      // The read model is away for now: whoever waits learns that by the time-out, or from its own reading.
    }
  }

  #note(waiter: Waiter, version: bigint | undefined): void {
    if (version !== undefined && version >= waiter.revision) return waiter.answer(true);
    // To the end of the line, so that nobody is left out when there are more than fit one query.
    if (this.#waiters.delete(waiter)) this.#waiters.add(waiter);
  }
}
