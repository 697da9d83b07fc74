import { randomUUID } from 'node:crypto';

const COUNTER_LIMIT = 0x1000;

const prefix = (ms: number, counter: number): string => {
  const time = ms.toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${counter.toString(16).padStart(3, '0')}`;
};

/** UUIDs of version 7 whose order as text is the order in which they were made. */
export class TimeOrderedIds {
  #ms = 0;
  #counter = 0;

  /** @param now milliseconds since 1970; an id never sorts before an earlier one, even when the clock steps back */
  next(now: number): string {
    if (now > this.#ms) {
      this.#ms = now;
      this.#counter = 0;
    } else if (++this.#counter === COUNTER_LIMIT) {
      this.#ms += 1;
      this.#counter = 0;
    }
    return prefix(this.#ms, this.#counter) + randomUUID().slice(18);
  }
}

/** Sorts before every id made at or after this instant. */
export const firstIdAt = (ms: number): string => `${prefix(ms, 0)}-0000-000000000000`;
