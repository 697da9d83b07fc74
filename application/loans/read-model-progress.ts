import { LRUCache } from 'lru-cache';
import type { SqlLoanReader } from './loan-reader.ts';

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

export interface AppliedVersions {
  waitForVersion(stream: string, revision: bigint, timeoutMs: number): Promise<boolean>;
}

interface Waiter {
  readonly stream: string;
  readonly revision: bigint;
  readonly since: number;
  readonly answer: (applied: boolean) => void;
}

interface PolledDependencies {
  readonly loans: Pick<SqlLoanReader, 'versions'>;
  readonly sleep: (ms: number) => Promise<void>;
  /** Milliseconds of a clock that never goes back. */
  readonly now: () => number;
}

const SHORTEST_PAUSE_MS = 5;
const LONGEST_PAUSE_MS = 100;
const MOST_STREAMS = 500;

/** One query at a time for all that wait, the more seldom the longer they do. */
export class PolledProgress implements AppliedVersions {
  readonly #deps: PolledDependencies;
  readonly #waiters = new Set<Waiter>();
  #looking = false;

  constructor(dependencies: PolledDependencies) {
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

  #pause(): number {
    const youngest = Math.max(...[...this.#waiters].map(({ since }) => since));
    return Math.min(LONGEST_PAUSE_MS, Math.max(SHORTEST_PAUSE_MS, (this.#deps.now() - youngest) / 2));
  }

  async #lookOnce(): Promise<void> {
    const asked = [...this.#waiters].slice(0, MOST_STREAMS);
    if (asked.length === 0) return;
    try {
      const versions = await this.#deps.loans.versions([...new Set(asked.map(({ stream }) => stream))]);
      for (const waiter of asked) this.#note(waiter, versions.get(waiter.stream));
    } catch {
      // The read model is away for now: a waiting request learns that by the time-out, or from its own reading.
    }
  }

  #note(waiter: Waiter, version: bigint | undefined): void {
    if (version !== undefined && version >= waiter.revision) return waiter.answer(true);
    // To the end of the line, so that no request is left out when there are more than fit one query.
    if (this.#waiters.delete(waiter)) this.#waiters.add(waiter);
  }
}

interface LocalProjector extends AppliedVersions {
  status(): { readonly state: 'stopped' | 'running' | 'retrying' | 'halted' };
}

/**
 * Asks the projector beside it while that one works; otherwise another process has the role, and the read model tells.
 * @param now milliseconds of a clock that never goes back
 */
export const nearestProgress = (
  local: LocalProjector,
  elsewhere: AppliedVersions,
  now: () => number,
): AppliedVersions => ({
  async waitForVersion(stream, revision, timeoutMs) {
    const until = now() + timeoutMs;
    if (local.status().state === 'running' && (await local.waitForVersion(stream, revision, timeoutMs)))
      return true;
    // It may have handed its role over while a request waited.
    const left = until - now();
    return left > 0 && elsewhere.waitForVersion(stream, revision, left);
  },
});
