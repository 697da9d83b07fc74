import type { LaneSchedule } from '../../../application/ports/delivery-queue.ts';
import type { BreakerSettings } from './dispatch-settings.ts';
import { Endpoint } from './endpoint.ts';

interface Limits {
  readonly slots: number;
  readonly slotsPerEndpoint: number;
}

/**
 * Who may send now. A lane whose result is being stored needs no slot, so others send meanwhile; when it goes on, it waits for its
 * turn behind them.
 */
export class SlotLimiter {
  readonly #limits: Limits;
  readonly #waiting = new Map<Endpoint, (() => void)[]>();
  #sending = 0;

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  get sending(): number {
    return this.#sending;
  }

  /** Every `take` that resolved needs one `free`. */
  async take(endpoint: Endpoint): Promise<void> {
    if (!this.#mayStart(endpoint)) {
      await new Promise<void>((resolve) => {
        const queue = this.#waiting.get(endpoint);
        if (queue) queue.push(resolve);
        else this.#waiting.set(endpoint, [resolve]);
      });
      return;
    }
    this.#start(endpoint);
  }

  free(endpoint: Endpoint): void {
    this.#sending -= 1;
    endpoint.sending -= 1;
    this.#next(endpoint);
    // The slot may be one that another endpoint's lanes wait for.
    for (const other of this.#waiting.keys()) if (!this.#next(other)) break;
  }

  #mayStart(endpoint: Endpoint): boolean {
    const { slots, slotsPerEndpoint } = this.#limits;
    return this.#sending < slots && endpoint.sending < slotsPerEndpoint;
  }

  #start(endpoint: Endpoint): void {
    this.#sending += 1;
    endpoint.sending += 1;
  }

  /** False when no slot is left. */
  #next(endpoint: Endpoint): boolean {
    const queue = this.#waiting.get(endpoint);
    while (queue && queue.length > 0 && this.#mayStart(endpoint)) {
      this.#start(endpoint);
      queue.shift()!();
    }
    if (queue?.length === 0) this.#waiting.delete(endpoint);
    return this.#sending < this.#limits.slots;
  }
}

const SHORTEST_TIMER_MS = 5;
const LONGEST_TIMER_MS = 60_000;

interface Options {
  readonly breaker: BreakerSettings;
  readonly now: () => number;
  /** Called when the time of some endpoint has come. */
  readonly onDue: () => void;
}

/** Which endpoints to turn to, and when: one timer for all of them, set to whichever is due first. */
export class EndpointSchedule {
  readonly #options: Options;
  readonly #endpoints = new Map<string, Endpoint>();
  /** May have a lane to lease now, in the order of their turns. */
  readonly #hungry = new Set<Endpoint>();
  /** Has, but there was no slot. */
  readonly #starved = new Set<Endpoint>();
  #timer: NodeJS.Timeout | undefined;
  #timerAt = Infinity;
  #closed = false;

  constructor(options: Options) {
    this.#options = options;
  }

  endpoint(webhookId: string): Endpoint {
    const known = this.#endpoints.get(webhookId);
    if (known) return known;
    const endpoint = new Endpoint(webhookId, this.#options.breaker);
    this.#endpoints.set(webhookId, endpoint);
    return endpoint;
  }

  /** There is something new for it. */
  wake(webhookId: string): void {
    const endpoint = this.endpoint(webhookId);
    endpoint.wake(this.#options.now());
    this.#hungry.add(endpoint);
  }

  /** Leasing its lanes failed: everything it may have is to be looked at again. */
  reconsider(webhookId: string): void {
    this.endpoint(webhookId).retryAt(this.#options.now());
    this.wake(webhookId);
  }

  learn(schedule: LaneSchedule): void {
    const endpoint = this.endpoint(schedule.webhookId);
    endpoint.learn(schedule);
    this.expect(endpoint);
  }

  /** Puts an endpoint where its next due time says. */
  expect(endpoint: Endpoint, now = this.#options.now()): void {
    const { dueAt } = endpoint;
    if (dueAt <= now) this.#hungry.add(endpoint);
    else if (dueAt < this.#timerAt) this.#setTimer(dueAt, now);
  }

  #setTimer(at: number, now: number): void {
    if (this.#closed) return;
    clearTimeout(this.#timer);
    this.#timerAt = at;
    const delay = Math.min(LONGEST_TIMER_MS, Math.max(SHORTEST_TIMER_MS, at - now));
    this.#timer = setTimeout(() => this.#onTimer(), delay);
  }

  #onTimer(): void {
    this.#timerAt = Infinity;
    for (const endpoint of this.#endpoints.values()) if (endpoint.dueAt < Infinity) this.expect(endpoint);
    this.#options.onDue();
  }

  /** Endpoints whose time has come, one after the other; each is taken off until it is expected again. */
  *due(now: number): Generator<Endpoint> {
    for (const endpoint of this.#hungry) {
      this.#hungry.delete(endpoint);
      if (endpoint.dueAt <= now) yield endpoint;
      else this.expect(endpoint, now);
    }
  }

  /** To be asked again as soon as a slot is free. */
  starve(endpoint: Endpoint): void {
    this.#starved.add(endpoint);
  }

  slotFreed(): void {
    for (const endpoint of this.#starved) this.#hungry.add(endpoint);
    this.#starved.clear();
  }

  /** Lets go of endpoints of which there is nothing to know. */
  tidy(): void {
    for (const [webhookId, endpoint] of this.#endpoints) {
      if (endpoint.forgettable && !this.#hungry.has(endpoint)) this.#endpoints.delete(webhookId);
    }
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }
}
