import type { ReadModelProgress } from './read-loan.ts';

/** A projector of this process, which knows at once what it has applied. */
export interface LocalProjector extends ReadModelProgress {
  status(): { readonly state: 'stopped' | 'running' | 'retrying' | 'halted' };
}

interface Dependencies {
  readonly local: LocalProjector;
  /** The way to learn of another process's projector; undefined when there is no other process. */
  readonly elsewhere?: ReadModelProgress | undefined;
  /** Milliseconds of a clock that never goes back. */
  readonly now: () => number;
}

/** Asks the projector beside it while that one works; otherwise another process has the role, and the read model tells. */
export class NearestProgress implements ReadModelProgress {
  readonly #deps: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#deps = dependencies;
  }

  async waitForVersion(stream: string, revision: bigint, timeoutMs: number): Promise<boolean> {
    const { local, elsewhere, now } = this.#deps;
    if (!elsewhere) return local.waitForVersion(stream, revision, timeoutMs);
    const until = now() + timeoutMs;
    if (local.status().state === 'running' && (await local.waitForVersion(stream, revision, timeoutMs)))
      return true;
    // It may have handed its role over while somebody waited.
    const left = until - now();
    return left > 0 && elsewhere.waitForVersion(stream, revision, left);
  }
}
