import type { Lease, Leases } from './leases.ts';
import type { Logger } from '../ports/logger.ts';
import { running } from './background.ts';
import type { Background } from './background.ts';
import { Outage, answerWithin } from '../support/retry.ts';
import type { Pause } from '../support/retry.ts';

interface LeasedRunnerOptions {
  /** Name of the lease, the same in every process. */
  readonly lease: string;
  /** Names this runner alone, in the whole fleet and over restarts. */
  readonly holder: string;
  readonly leases: Leases;
  readonly inner: Background;
  readonly logger: Logger;
  readonly sleep: Pause;
  /** Milliseconds of a clock that never goes back. */
  readonly now: () => number;
  readonly timing?: LeaseTiming;
}

interface LeaseTiming {
  readonly ttlMs: number;
  readonly lookEveryMs: number;
}

/** A dead holder is followed within seven seconds; one that stops in order, within half of one. */
const LEASE_TIMING: LeaseTiming = { ttlMs: 6_000, lookEveryMs: 500 };

type LeasedState = 'stopped' | 'standby' | 'holding' | 'stepping_down';

interface Holding {
  readonly lease: Lease;
  /** When to have let go without another renewal, by `now`: earlier than the store would give the lease to another. */
  readonly until: number;
}

interface HeldOnce extends Holding {
  /** From then on it goes to another process when it is stuck here. */
  readonly stuckFrom: number;
}

type Ending = 'stopping' | 'lost' | 'not_renewed' | 'stuck';

/** Looks at the lease that others get before this process asks again. */
const LOOKS_ASIDE = 3;
/** Each time it takes so many times longer until what is stuck is handed on: where there is no other process, this one rarely stands aside. */
const LONGER = 2;
const LONGEST_STUCK_TTLS = 50;

const RELEASE_WITHIN_MS = 1_000;

/**
 * Runs something that one process of all may run: starts it when the lease is obtained, stops it at once when the lease is lost
 * or cannot be renewed in time. Stopping takes a moment, and a process can be frozen between two instructions: what the inner
 * one writes must be refused when it comes late (compare-and-set), the lease only keeps that from being the rule.
 */
export class LeasedRunner implements Background {
  readonly name: string;
  readonly #options: LeasedRunnerOptions;
  readonly #timing: LeaseTiming;
  readonly #outage: Outage;
  #state: LeasedState = 'stopped';
  readonly #background: Background;

  constructor(options: LeasedRunnerOptions) {
    this.#options = options;
    this.#timing = options.timing ?? LEASE_TIMING;
    this.name = options.inner.name;
    this.#background = running(this.name, (signal) => this.#run(signal));
    this.#outage = new Outage({ logger: options.logger, what: `lease ${options.lease}` });
  }

  get state(): LeasedState {
    return this.#state;
  }

  start(): void {
    this.#background.start();
  }

  async stop(): Promise<void> {
    await this.#background.stop();
    this.#state = 'stopped';
  }

  async #run(signal: AbortSignal): Promise<void> {
    const { ttlMs, lookEveryMs } = this.#timing;
    let stuckAfterMs = ttlMs / 2;
    for (;;) {
      const holding = await this.#obtain(signal);
      if (!holding) return;
      const ending = await this.#hold({ ...holding, stuckFrom: this.#options.now() + stuckAfterMs }, signal);
      if (ending !== 'stuck') continue;
      this.#state = 'standby';
      await this.#options.sleep(LOOKS_ASIDE * lookEveryMs, signal);
      stuckAfterMs = Math.min(stuckAfterMs * LONGER, ttlMs * LONGEST_STUCK_TTLS);
    }
  }

  async #obtain(signal: AbortSignal): Promise<Holding | undefined> {
    const { lease: name, logger, sleep, now } = this.#options;
    const { lookEveryMs } = this.#timing;
    while (!signal.aborted) {
      const askedAt = now();
      const answer = await this.#ask(signal);
      if (answer?.lease) return { lease: answer.lease, until: this.#end(askedAt) };
      if (this.#state !== 'standby') logger.info({ lease: name }, 'standing by for a lease');
      this.#state = 'standby';
      // Processes that wait for one lease should not all ask at the same moment.
      await sleep(lookEveryMs * (0.75 + Math.random() / 2), signal);
    }
    return undefined;
  }

  /** Waits for no store that is away; a lease that it grants all the same goes back. */
  async #ask(signal: AbortSignal): Promise<{ readonly lease: Lease | undefined } | undefined> {
    const { leases, lease: name, holder } = this.#options;
    const { ttlMs } = this.#timing;
    const asked = leases.acquire(name, holder, ttlMs).then((lease) => ({ lease }));
    const answer = await this.#within(ttlMs, signal, asked);
    if (!answer) {
      asked.then(({ lease }) => lease && this.#giveBack(lease)).catch(() => undefined);
    }
    return answer;
  }

  async #hold(holding: HeldOnce, signal: AbortSignal): Promise<Ending> {
    const { lease } = holding;
    const { inner, logger } = this.#options;
    const named = { lease: lease.name, term: lease.token };
    if (signal.aborted || this.#options.now() >= holding.until) {
      await this.#giveBack(lease);
      return 'not_renewed';
    }
    this.#state = 'holding';
    logger.info(named, 'lease obtained, starting');
    inner.start();
    const ending = await this.#keep(holding, signal);
    this.#state = 'stepping_down';
    if (ending === 'stuck') logger.warn(named, 'it has come to a halt here; another process may try');
    else if (ending !== 'stopping') logger.error({ ...named, ending }, 'lease lost, stopping');
    await inner.stop();
    if (ending !== 'lost') await this.#giveBack(lease);
    if (ending === 'stopping') logger.info(named, 'lease given back');
    return ending;
  }

  async #keep({ lease, until: firstEnd, stuckFrom }: HeldOnce, signal: AbortSignal): Promise<Ending> {
    const { leases, sleep, now, inner } = this.#options;
    const { ttlMs } = this.#timing;
    let until = firstEnd;
    let pause = ttlMs / 3;
    while (!signal.aborted) {
      await sleep(Math.max(0, Math.min(pause, until - now())), signal);
      if (signal.aborted) break;
      const askedAt = now();
      if (askedAt >= until) return 'not_renewed';
      if (askedAt >= stuckFrom && inner.isStuck?.()) return 'stuck';
      const renewed = await this.#within(until - askedAt, signal, leases.renew(lease, ttlMs));
      if (renewed === false) return 'lost';
      pause = ttlMs / (renewed ? 3 : 12);
      if (renewed) until = this.#end(askedAt);
    }
    return 'stopping';
  }

  #end(askedAt: number): number {
    return askedAt + (this.#timing.ttlMs * 5) / 6;
  }

  async #within<T>(ms: number, signal: AbortSignal, asked: Promise<T>): Promise<T | undefined> {
    try {
      const answer = await answerWithin({ pause: this.#options.sleep, signal, ms }, asked);
      if (answer !== undefined) this.#outage.over();
      return answer;
    } catch (error) {
      this.#outage.failed(error);
      return undefined;
    }
  }

  /** A failure costs the next holder some waiting, nothing else. */
  async #giveBack(lease: Lease): Promise<void> {
    const { leases, logger, sleep: pause } = this.#options;
    const released = leases.release(lease).catch((error: unknown) => {
      logger.warn({ err: error, lease: lease.name }, 'a lease could not be given back; it ends by itself');
    });
    await answerWithin({ pause, signal: new AbortController().signal, ms: RELEASE_WITHIN_MS }, released);
  }
}
