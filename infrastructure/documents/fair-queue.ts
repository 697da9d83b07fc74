/** What waits, by whom it waits for: each in turn has one of its own taken, however many others have queued. */
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
