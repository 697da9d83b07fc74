import type { BreakerSettings } from './dispatch-settings.ts';

/**
 * Closed until an endpoint failed so often in a row that it is plainly down; then open: one delivery at a time is let through as a
 * probe, and the others keep their attempts for later. The first sign of life closes it.
 */
export class Breaker {
  readonly #settings: BreakerSettings;
  #failures = 0;
  #pauseMs: number;
  #probeAt: number | undefined;

  constructor(settings: BreakerSettings) {
    this.#settings = settings;
    this.#pauseMs = settings.firstPauseMs;
  }

  /** When the next probe may go; undefined while closed. */
  get probeAt(): number | undefined {
    return this.#probeAt;
  }

  get idle(): boolean {
    return this.#failures === 0;
  }

  /** True when this closed it. */
  alive(): boolean {
    const closed = this.#probeAt !== undefined;
    this.#failures = 0;
    this.#probeAt = undefined;
    this.#pauseMs = this.#settings.firstPauseMs;
    return closed;
  }

  /** True when this opened it. Attempts that were under way when it opened do not prolong the pause. */
  down(now: number): boolean {
    this.#failures += 1;
    if (this.#failures < this.#settings.failures) return false;
    if (this.#probeAt !== undefined && now < this.#probeAt) return false;
    const opened = this.#probeAt === undefined;
    if (!opened) this.#pauseMs = Math.min(this.#settings.longestPauseMs, this.#pauseMs * 2);
    this.#probeAt = now + this.#pauseMs;
    return opened;
  }
}
