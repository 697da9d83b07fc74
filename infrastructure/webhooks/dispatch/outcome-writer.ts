import type { AttemptResult, DeliveryQueue, Settlement } from '../../../application/ports/delivery-queue.ts';
import type { Logger } from '../../../application/ports/logger.ts';

interface Waiting {
  readonly result: AttemptResult;
  readonly resolve: (settlement: Settlement) => void;
  readonly reject: (error: unknown) => void;
}

interface Options {
  readonly queue: DeliveryQueue;
  readonly logger: Logger;
  readonly now: () => number;
  readonly leaseMs: number;
}

const MOST_TOGETHER = 128;
const RETRY_PAUSES_MS = [50, 200, 500, 1_000];

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Stores results as they come, one call at a time: what comes in while one is under way goes into the next together. */
export class OutcomeWriter {
  readonly #options: Options;
  #waiting: Waiting[] = [];
  #busy = false;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Resolves once it is stored, or known not to be. @throws the store's error after a few tries */
  settle(result: AttemptResult): Promise<Settlement> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ result, resolve, reject });
      if (!this.#busy) void this.#drain();
    });
  }

  async #drain(): Promise<void> {
    this.#busy = true;
    // Results of the same turn of the event loop travel together from the first call on.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, MOST_TOGETHER);
      try {
        const settlements = await this.#store(batch.map(({ result }) => result));
        batch.forEach(({ resolve }, index) => resolve(settlements[index]!));
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.#busy = false;
  }

  /** Storing a result twice is storing it once: after the first time its lease is gone, or its values are there already. */
  async #store(results: readonly AttemptResult[]): Promise<readonly Settlement[]> {
    const { queue, logger, now, leaseMs } = this.#options;
    for (let tries = 0; ; tries++) {
      try {
        const at = now();
        return await queue.settle(results, new Date(at).toISOString(), new Date(at + leaseMs).toISOString());
      } catch (error) {
        const pauseMs = RETRY_PAUSES_MS[tries];
        if (pauseMs === undefined) throw error;
        logger.warn({ err: error, results: results.length }, 'webhooks: results not stored yet');
        await pause(pauseMs);
      }
    }
  }
}
