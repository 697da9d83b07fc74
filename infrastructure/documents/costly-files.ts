/** Files refused as too costly that an application may have at once; one is forgiven in each period. */
const MOST = 5;
const FORGIVEN_EVERY_MS = 60_000;

interface Record {
  readonly files: number;
  readonly at: number;
}

/** Which applications sent files that were too costly to read, lately. */
export class CostlyFiles {
  readonly #records = new Map<string, Record>();
  /** Milliseconds that never go back. */
  readonly #now: () => number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  note(applicationId: string): void {
    this.#records.set(applicationId, { files: this.count(applicationId) + 1, at: this.#now() });
  }

  /** What is not forgiven yet; a fraction while one is on its way to be. */
  count(applicationId: string): number {
    const record = this.#records.get(applicationId);
    if (record === undefined) return 0;
    const files = record.files - (this.#now() - record.at) / FORGIVEN_EVERY_MS;
    if (files > 0) return files;
    this.#records.delete(applicationId);
    return 0;
  }

  /** Until the next file is looked at; 0 when it is at once. */
  secondsToWait(applicationId: string): number {
    const over = this.count(applicationId) - (MOST - 1);
    return over > 0 ? Math.ceil((over * FORGIVEN_EVERY_MS) / 1000) : 0;
  }
}
