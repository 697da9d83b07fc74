/** Jobs that wait, by owner. Owners take turns, one job each, however many jobs an owner has queued. */
export class FairQueue<Job> {
  /** In the order of their turns. */
  readonly #waiting = new Map<string, Job[]>();

  push(owner: string, job: Job): void {
    const jobs = this.#waiting.get(owner);
    if (jobs) jobs.push(job);
    else this.#waiting.set(owner, [job]);
  }

  /** Takes the first job of the first owner who may have one taken now, and puts that owner behind all others. */
  take(may: (owner: string) => boolean): Job | undefined {
    for (const [owner, jobs] of this.#waiting) {
      if (!may(owner)) continue;
      const job = jobs.shift();
      this.#waiting.delete(owner);
      if (jobs.length > 0) this.#waiting.set(owner, jobs);
      return job;
    }
    return undefined;
  }

  /** False when it waits no more. */
  remove(owner: string, job: Job): boolean {
    const jobs = this.#waiting.get(owner) ?? [];
    const at = jobs.indexOf(job);
    if (at < 0) return false;
    jobs.splice(at, 1);
    if (jobs.length === 0) this.#waiting.delete(owner);
    return true;
  }

  waitingOf(owner: string): number {
    return this.#waiting.get(owner)?.length ?? 0;
  }
}

/** Too costly files after which an application must wait; one is forgotten in each period. */
const MOST = 5;
const FORGIVEN_EVERY_MS = 60_000;

interface Record {
  readonly files: number;
  readonly at: number;
}

/** Counts the files of each application that were too costly to read lately. */
export class CostlyFiles {
  readonly #records = new Map<string, Record>();
  /** Milliseconds of a clock that never goes back. */
  readonly #now: () => number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  note(applicationId: string): void {
    this.#records.set(applicationId, { files: this.count(applicationId) + 1, at: this.#now() });
  }

  /** Files not forgotten yet; fractions included. */
  count(applicationId: string): number {
    const record = this.#records.get(applicationId);
    if (record === undefined) return 0;
    const files = record.files - (this.#now() - record.at) / FORGIVEN_EVERY_MS;
    if (files > 0) return files;
    this.#records.delete(applicationId);
    return 0;
  }

  /** Seconds until the next file of the application is checked; 0 when it need not wait. */
  secondsToWait(applicationId: string): number {
    const over = this.count(applicationId) - (MOST - 1);
    return over > 0 ? Math.ceil((over * FORGIVEN_EVERY_MS) / 1000) : 0;
  }
}
