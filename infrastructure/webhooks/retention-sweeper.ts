import type { Lease, Leases } from '../../application/coordination/leases.ts';
import { pause } from '../support/time.ts';
import type { DeliveryQueue } from '../../application/webhooks/queue/delivery-queue.ts';
import type { Logger } from '../../application/ports/logger.ts';

export const RETENTION = { deliveredDays: 30, failedDays: 90 };

interface Options {
  readonly queue: DeliveryQueue;
  readonly logger: Logger;
  /** UNIX time in milliseconds. */
  readonly now: () => number;
  readonly everyMs?: number;
  /** Where several processes send from one database: one of them sweeps at a time. */
  readonly lease?: LeasePlace | undefined;
}

export interface LeasePlace {
  readonly leases: Leases;
  readonly name: string;
  readonly holder: string;
}

const DAY_MS = 86_400_000;
const EVERY_MS = 60_000;
const DELIVERIES_A_STEP = 200;
const BETWEEN_STEPS_MS = 20;
const LEASE_MS = 30_000;
const RENEWED_AFTER_MS = 10_000;
/** A clock that says more than this beyond the time that has passed was set. */
const AHEAD_MS = 3_600_000;
/** Far longer than a worker can be in the middle of queueing for a subscription that was just removed. */
const REMOVED_FOR_MS = 600_000;

/** Keeps the tables bounded: every minute, in small steps with pauses, so that deliveries do not wait for it. */
export class RetentionSweeper {
  readonly #options: Options;
  #timer: NodeJS.Timeout | undefined;
  #sweeping: Promise<void> | undefined;
  #stopped = false;
  /** What the clock said when this began, and how far that was ahead of one that nothing sets. */
  readonly #aheadMs: number;

  constructor(options: Options) {
    this.#options = options;
    this.#aheadMs = options.now() - performance.now();
  }

  start(): void {
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

  /** Steps until nothing is left to remove, until stopped, or until another process sweeps. */
  async sweep(): Promise<void> {
    const { lease: place } = this.#options;
    if (!place) return this.#steps(() => Promise.resolve(true));
    const lease = await place.leases.acquire(place.name, place.holder, LEASE_MS);
    if (!lease) return;
    try {
      await this.#steps(this.#keeping(lease, place.leases));
    } finally {
      await place.leases.release(lease);
    }
  }

  /** Renews the lease now and then; false once it has passed on. */
  #keeping(lease: Lease, leases: Leases): () => Promise<boolean> {
    let renewedAt = performance.now();
    return async () => {
      if (performance.now() - renewedAt < RENEWED_AFTER_MS) return true;
      renewedAt = performance.now();
      return leases.renew(lease, LEASE_MS);
    };
  }

  async #steps(mayGoOn: () => Promise<boolean>): Promise<void> {
    const { queue, now } = this.#options;
    // A clock that is set ahead by mistake must not make everything old at once.
    const earliest = Math.min(now(), performance.now() + this.#aheadMs + AHEAD_MS);
    const before = (ms: number) => new Date(earliest - ms).toISOString();
    for (;;) {
      const removed = await queue.cleanUp({
        deliveredBefore: before(RETENTION.deliveredDays * DAY_MS),
        failedBefore: before(RETENTION.failedDays * DAY_MS),
        removedBefore: before(REMOVED_FOR_MS),
        limit: DELIVERIES_A_STEP,
      });
      if (removed === 0 || this.#stopped) return;
      await pause(BETWEEN_STEPS_MS);
      if (!(await mayGoOn())) return;
    }
  }
}
