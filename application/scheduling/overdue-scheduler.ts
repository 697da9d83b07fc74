import { Outage } from '../coordination/outage.ts';
import type { BusinessClock } from '../ports/clock.ts';
import type { Logger } from '../ports/logger.ts';
import type { MarkOverdueInstallments } from './mark-overdue-installments.ts';
import { nextDayStart } from './next-day.ts';

interface Dependencies {
  readonly markOverdue: Pick<MarkOverdueInstallments, 'execute'>;
  readonly clock: BusinessClock;
  readonly logger: Logger;
  /** Resolves after so many milliseconds, or at once when the signal ends. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Longest time between two sweeps, in milliseconds: how late an operation that starts with a past due date may be seen. */
  readonly interval: number;
}

const RETRY_MS = 1_000;

/**
 * Sweeps when a calendar day begins, and every `interval` besides, for what became active late or waited while the service was
 * down. Several may run: they find the same work and do it once.
 */
export class OverdueScheduler {
  readonly #deps: Dependencies;
  readonly #outage: Outage;

  constructor(dependencies: Dependencies) {
    this.#deps = dependencies;
    this.#outage = new Outage({
      logger: dependencies.logger,
      what: 'overdue scheduler',
      firstPauseMs: RETRY_MS,
      longestPauseMs: RETRY_MS,
    });
  }

  /** Works until the signal ends; then what is in hand is finished. */
  async run(signal: AbortSignal): Promise<void> {
    const { sleep, interval } = this.#deps;
    while (!signal.aborted) {
      let pause = interval;
      try {
        await this.#sweep(signal);
        this.#outage.over();
      } catch (error) {
        pause = Math.min(this.#outage.failed(error), interval);
      }
      await sleep(Math.min(pause, this.#untilNextDay()), signal);
    }
  }

  async #sweep(signal: AbortSignal): Promise<void> {
    const marked = await this.#deps.markOverdue.execute(signal);
    if (marked > 0) this.#deps.logger.info({ marked }, 'installments became overdue');
  }

  /** At least a millisecond, so that a clock that stands still cannot turn this into a busy loop. */
  #untilNextDay(): number {
    const now = Date.parse(this.#deps.clock.now());
    return Math.max(1, nextDayStart(now) - now);
  }
}
