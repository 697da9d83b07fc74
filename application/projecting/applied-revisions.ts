import { LRUCache } from 'lru-cache';

interface Waiter {
  readonly revision: bigint;
  answer(applied: boolean): void;
}

const REMEMBERED_STREAMS = 50_000;

/** Callers that wait for a revision of a stream, and how far the streams came lately. */
export class AppliedRevisions {
  readonly #revisions: LRUCache<string, bigint>;
  readonly #waiters = new Map<string, Set<Waiter>>();

  constructor(capacity: number = REMEMBERED_STREAMS) {
    // By size, because a cache with a count takes the memory for all of them at once.
    this.#revisions = new LRUCache({ maxSize: capacity, sizeCalculation: () => 1 });
  }

  note(stream: string, revision: bigint): void {
    this.#revisions.set(stream, revision);
    for (const waiter of this.#waiters.get(stream) ?? [])
      if (waiter.revision <= revision) waiter.answer(true);
  }

  has(stream: string, revision: bigint): boolean {
    const applied = this.#revisions.peek(stream);
    return applied !== undefined && applied >= revision;
  }

  /** False when it did not happen within the time. */
  wait(stream: string, revision: bigint, timeoutMs: number): Promise<boolean> {
    if (this.has(stream, revision)) return Promise.resolve(true);
    return new Promise((resolve) => {
      const waiters = this.#waiters.get(stream) ?? new Set();
      this.#waiters.set(stream, waiters);
      const answer = (applied: boolean): void => {
        clearTimeout(timer);
        waiters.delete(waiter);
        if (waiters.size === 0) this.#waiters.delete(stream);
        resolve(applied);
      };
      const waiter = { revision, answer };
      const timer = setTimeout(answer, timeoutMs, false);
      waiters.add(waiter);
    });
  }

  /** Rows may have been taken back: what was applied before says nothing any more. */
  forget(): void {
    this.#revisions.clear();
  }

  /** Nothing will be applied for now: callers are answered before their time is up. */
  dismiss(): void {
    for (const waiters of [...this.#waiters.values()])
      for (const waiter of [...waiters]) waiter.answer(false);
  }
}
