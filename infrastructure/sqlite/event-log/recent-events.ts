import type { RecordedEvent } from '../../../application/ports/event-store.ts';

const MAX_EVENTS = 8_192;
const MAX_CHARACTERS = 32_000_000;

/**
 * The end of the log as this process appended it, without a hole: the events at positions `low + 1` to `high`. Subscribers that
 * keep up are served from here; those that have fallen behind it read the database.
 */
export class RecentEvents {
  #events: RecordedEvent[] = [];
  #characters = 0;
  #low: number;
  readonly #waiters = new Set<() => void>();

  constructor(end: number) {
    this.#low = end;
  }

  get high(): number {
    return this.#low + this.#events.length;
  }

  /** At most `limit` events after the position; undefined when the database has to be asked for them. */
  after(position: number, limit: number): readonly RecordedEvent[] | undefined {
    if (position < this.#low) return undefined;
    return this.#events.slice(position - this.#low, position - this.#low + limit);
  }

  /** Takes in an append of this process. A gap before it was filled by another process: the buffer starts anew behind the gap. */
  push(first: number, events: readonly RecordedEvent[]): void {
    if (first <= this.high) return;
    if (first > this.high + 1) this.#restart(first - 1);
    for (const event of events) {
      this.#events.push(event);
      this.#characters += event.data.length;
    }
    if (this.#events.length > MAX_EVENTS || this.#characters > MAX_CHARACTERS) this.#shrink();
    this.#wake();
  }

  /** The log is known to reach this position, with events that are not in here. */
  advanceTo(position: number): void {
    if (position <= this.high) return;
    this.#restart(position);
    this.#wake();
  }

  /** Frees the memory; to be called when nobody is subscribed. */
  forget(): void {
    this.#restart(this.high);
  }

  /** Calls back once at the next change; the answer cancels that. */
  onChange(callback: () => void): () => void {
    this.#waiters.add(callback);
    return () => void this.#waiters.delete(callback);
  }

  #restart(end: number): void {
    this.#events = [];
    this.#characters = 0;
    this.#low = end;
  }

  #shrink(): void {
    const dropped = this.#events.splice(0, Math.ceil(this.#events.length / 2));
    this.#low += dropped.length;
    for (const event of dropped) this.#characters -= event.data.length;
  }

  #wake(): void {
    const waiters = [...this.#waiters];
    this.#waiters.clear();
    for (const waiter of waiters) waiter();
  }
}
