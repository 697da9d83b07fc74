import type { RecordedEvent } from '../../../application/ports/event-store.ts';
import type { LogPage } from './event-log-reader.ts';

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

  /** Frees the memory; to be called when the last subscriber has left. */
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

/** What another process appends, or a thread that could not tell, is noticed within this time. */
const LOOK_INTERVAL_MS = 250;
/** Beyond this, followers read the file each at its own pace until they have caught up. */
const FARTHEST_BEHIND = 4_000;
const PAGE_EVENTS = 1_000;

export interface TailSource {
  /** Position of the log's last event. @throws when the file cannot be read now */
  end(): number;
  page(after: number, limit: number, prefix: string): LogPage;
}

/** Reads the end of the log once, for all that follow it here: when it is told that there is more, and every now and then by itself. */
export class LogTail {
  readonly #recent: RecentEvents;
  readonly #source: TailSource;
  #timer: NodeJS.Timeout | undefined;
  #end = 0;
  #scheduled = false;

  constructor(recent: RecentEvents, source: TailSource) {
    this.#recent = recent;
    this.#source = source;
  }

  watch(): void {
    this.#timer ??= setInterval(() => this.#look(), LOOK_INTERVAL_MS);
  }

  rest(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#recent.forget();
  }

  /** The log is known to reach this position. */
  advanceTo(end: number): void {
    this.#end = Math.max(this.#end, end);
    if (this.#timer === undefined || this.#scheduled || this.#end <= this.#recent.high) return;
    this.#scheduled = true;
    // At the end of the turn: what the turn still brings is read with it.
    setImmediate(() => {
      this.#scheduled = false;
      if (this.#timer !== undefined) this.#read();
    });
  }

  #look(): void {
    try {
      this.advanceTo(this.#source.end());
    } catch {
      // There will be another look, or none is needed because the store is closing.
    }
  }

  #read(): void {
    const { high } = this.#recent;
    if (this.#end - high > FARTHEST_BEHIND) return this.#recent.advanceTo(this.#end);
    try {
      const { events, end } = this.#source.page(high, PAGE_EVENTS, '');
      this.#recent.push(high + 1, events);
      if (events.length > 0) this.advanceTo(end);
    } catch {
      // A damaged event, or a file that cannot be read: each follower finds out by its own reading.
      this.#recent.advanceTo(this.#end);
    }
  }
}
