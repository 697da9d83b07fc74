import type { LogPage } from './log-page.ts';
import type { RecentEvents } from './recent-events.ts';

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
