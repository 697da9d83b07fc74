import type {
  AttemptResult,
  DeliveryQueue,
  RecordedResult,
} from '../../../application/ports/delivery-queue.ts';
import type { Logger } from '../../../application/ports/logger.ts';
import { retry } from '../../../application/support/retry.ts';
import { pause } from '../../support/time.ts';

interface Waiting {
  readonly result: AttemptResult;
  readonly resolve: (recorded: RecordedResult) => void;
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

/** Stores results as they come, one call at a time: what comes in while one is under way goes into the next together. */
export class OutcomeWriter {
  readonly #options: Options;
  #waiting: Waiting[] = [];
  #busy = false;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Resolves once it is stored, or known not to be. @throws the store's error after a few tries */
  record(result: AttemptResult): Promise<RecordedResult> {
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
        const recorded = await this.#store(batch.map(({ result }) => result));
        batch.forEach(({ resolve }, index) => resolve(recorded[index]!));
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.#busy = false;
  }

  /** Storing a result twice is storing it once: after the first time its lease is gone, or its values are there already. */
  #store(results: readonly AttemptResult[]): Promise<readonly RecordedResult[]> {
    const { queue, logger, now, leaseMs } = this.#options;
    const store = (): Promise<readonly RecordedResult[]> => {
      const at = now();
      return queue.record(results, new Date(at).toISOString(), new Date(at + leaseMs).toISOString());
    };
    const onRetry = (error: unknown): void =>
      logger.warn({ err: error, results: results.length }, 'webhooks: results not stored yet');
    return retry(store, { pausesMs: RETRY_PAUSES_MS, mayPass: () => true, onRetry }, pause);
  }
}
