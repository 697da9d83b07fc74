import { pause } from '../support/time.ts';
import type { DeliveryQueue } from '../../application/ports/delivery-queue.ts';
import type { Logger } from '../../application/ports/logger.ts';

export interface RetentionSettings {
  readonly deliveredDays: number;
  readonly failedDays: number;
}
export const DEFAULT_RETENTION: RetentionSettings = { deliveredDays: 30, failedDays: 90 };

interface Options {
  readonly queue: DeliveryQueue;
  readonly logger: Logger;
  /** UNIX time in milliseconds. */
  readonly now: () => number;
  readonly retention: RetentionSettings;
  readonly everyMs?: number;
}

const DAY_MS = 86_400_000;
const EVERY_MS = 60_000;
const DELIVERIES_A_STEP = 200;
const BETWEEN_STEPS_MS = 20;
/** Far longer than a worker can be in the middle of queueing for a subscription that was just removed. */
const REMOVED_FOR_MS = 600_000;

/** Keeps the tables bounded: every minute, in small steps with pauses, so that deliveries do not wait for it. */
export class RetentionSweeper {
  readonly #options: Options;
  #timer: NodeJS.Timeout | undefined;
  #sweeping: Promise<void> | undefined;
  #stopped = false;

  constructor(options: Options) {
    this.#options = options;
  }

  start(): void {
    this.#stopped = false;
    this.#again();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#sweeping;
  }

  #again(): void {
    if (this.#stopped) return;
    this.#timer = setTimeout(() => {
      this.#sweeping = this.sweep().then(
        () => this.#again(),
        (error: unknown) => {
          this.#options.logger.error({ err: error }, 'webhooks: old deliveries not removed');
          this.#again();
        },
      );
    }, this.#options.everyMs ?? EVERY_MS);
  }

  /** Steps until nothing is left to remove, or until stopped. */
  async sweep(): Promise<void> {
    const { queue, now, retention } = this.#options;
    const before = (ms: number) => new Date(now() - ms).toISOString();
    for (;;) {
      const removed = await queue.cleanUp({
        deliveredBefore: before(retention.deliveredDays * DAY_MS),
        failedBefore: before(retention.failedDays * DAY_MS),
        removedBefore: before(REMOVED_FOR_MS),
        limit: DELIVERIES_A_STEP,
      });
      if (removed === 0 || this.#stopped) return;
      await pause(BETWEEN_STEPS_MS);
    }
  }
}
