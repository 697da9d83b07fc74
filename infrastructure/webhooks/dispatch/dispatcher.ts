import type { Claim, ClaimRequest } from '../../../application/ports/delivery-queue.ts';
import { checkedSettings } from './dispatch-settings.ts';
import { Endpoint } from './endpoint.ts';
import { LaneRunner, isRetry } from './lane-runner.ts';
import type { RunnerDependencies, Task } from './lane-runner.ts';

export interface DispatcherStatus {
  readonly state: 'stopped' | 'running' | 'stopping';
  readonly inFlight: number;
  readonly lastError: string | undefined;
}

const MOST_ENDPOINTS_A_CLAIM = 32;
const SHORTEST_TIMER_MS = 5;
const LONGEST_TIMER_MS = 60_000;
const AFTER_ERROR_MS = 500;
const LAST_MOMENTS_MS = 1_000;

/**
 * Hands lanes to runners. One claim at a time, for as many lanes as there are free slots; woken by new work, by results and by
 * timers set for the next due lane. Everything here is a hint: what may be sent is decided by the queue.
 */
export class WebhookDispatcher {
  readonly #deps: RunnerDependencies;
  readonly #runner: LaneRunner;
  readonly #endpoints = new Map<string, Endpoint>();
  /** May have something to claim now. */
  readonly #hungry = new Set<Endpoint>();
  /** Has, but there was no slot. */
  readonly #starved = new Set<Endpoint>();
  readonly #running = new Set<Promise<void>>();
  #state: DispatcherStatus['state'] = 'stopped';
  #inFlight = 0;
  #retriesInFlight = 0;
  #claiming: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #timerAt = Infinity;
  #lookTimer: NodeJS.Timeout | undefined;
  #lastError: string | undefined;

  constructor(dependencies: RunnerDependencies) {
    checkedSettings(dependencies.settings);
    this.#deps = dependencies;
    this.#runner = new LaneRunner(dependencies);
  }

  start(): void {
    if (this.#state !== 'stopped') return;
    this.#state = 'running';
    void this.#look();
  }

  status(): DispatcherStatus {
    return { state: this.#state, inFlight: this.#inFlight, lastError: this.#lastError };
  }

  /** There is something new for these subscriptions. */
  wake(webhookIds: readonly string[]): void {
    if (this.#state !== 'running') return;
    const now = this.#deps.now();
    for (const webhookId of webhookIds) {
      const endpoint = this.#endpoint(webhookId);
      endpoint.wake(now);
      this.#hungry.add(endpoint);
    }
    this.#pump();
  }

  /** Lets what is under way finish for so long, then cuts it off and gives its lanes back. */
  async stop(graceMs: number): Promise<void> {
    if (this.#state === 'stopped') return;
    this.#state = 'stopping';
    clearTimeout(this.#timer);
    clearTimeout(this.#lookTimer);
    await this.#idleWithin(graceMs);
    this.#deps.sender.close();
    await this.#idleWithin(LAST_MOMENTS_MS);
    this.#state = 'stopped';
  }

  async #idleWithin(ms: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<'late'>((resolve) => {
      timer = setTimeout(resolve, ms, 'late');
    });
    const idle = async (): Promise<void> => {
      await this.#claiming;
      await Promise.all(this.#running);
    };
    await Promise.race([idle(), late]);
    clearTimeout(timer);
  }

  #endpoint(webhookId: string): Endpoint {
    const known = this.#endpoints.get(webhookId);
    if (known) return known;
    const endpoint = new Endpoint(webhookId, this.#deps.settings.breaker);
    this.#endpoints.set(webhookId, endpoint);
    return endpoint;
  }

  /** Finds what this process was not told of: work of another process, work from before the start, ended leases. */
  async #look(): Promise<void> {
    try {
      for (const schedule of await this.#deps.queue.schedules()) {
        const endpoint = this.#endpoint(schedule.webhookId);
        endpoint.learn(schedule);
        this.#expect(endpoint);
      }
      for (const [webhookId, endpoint] of this.#endpoints) {
        if (endpoint.forgettable && !this.#hungry.has(endpoint)) this.#endpoints.delete(webhookId);
      }
    } catch (error) {
      this.#report(error, 'webhooks: cannot look for work');
    }
    if (this.#state !== 'running') return;
    this.#lookTimer = setTimeout(() => void this.#look(), this.#deps.settings.lookEveryMs);
    this.#pump();
  }

  /** Puts an endpoint where its next due time says. */
  #expect(endpoint: Endpoint): void {
    const { dueAt } = endpoint;
    const now = this.#deps.now();
    if (dueAt <= now) this.#hungry.add(endpoint);
    else if (dueAt < this.#timerAt && this.#state === 'running') this.#setTimer(dueAt, now);
  }

  #setTimer(at: number, now: number): void {
    clearTimeout(this.#timer);
    this.#timerAt = at;
    const delay = Math.min(LONGEST_TIMER_MS, Math.max(SHORTEST_TIMER_MS, at - now));
    this.#timer = setTimeout(() => this.#onTimer(), delay);
  }

  #onTimer(): void {
    this.#timerAt = Infinity;
    for (const endpoint of this.#endpoints.values()) if (endpoint.dueAt < Infinity) this.#expect(endpoint);
    this.#pump();
  }

  #pump(): void {
    if (this.#claiming || this.#state !== 'running') return;
    const now = this.#deps.now();
    const requests = this.#plan(now);
    if (requests.length === 0) return;
    this.#claiming = this.#claim(requests, now).finally(() => {
      this.#claiming = undefined;
      this.#pump();
    });
  }

  /** Endpoints take turns; each may take a quarter of what is free, so the first ones leave something for the last. */
  #plan(now: number): ClaimRequest[] {
    const { slots, slotsForFirstAttempts, slotsPerEndpoint } = this.#deps.settings;
    const requests: ClaimRequest[] = [];
    let free = slots - this.#inFlight;
    let freeForRetries = slots - slotsForFirstAttempts - this.#retriesInFlight;
    for (const endpoint of this.#hungry) {
      if (requests.length === MOST_ENDPOINTS_A_CLAIM) break;
      this.#hungry.delete(endpoint);
      if (endpoint.dueAt > now) {
        this.#expect(endpoint);
        continue;
      }
      const perEndpoint = Math.max(1, Math.min(slotsPerEndpoint, Math.floor(free / 4)));
      const request = endpoint.request(now, { total: free, retries: freeForRetries, perEndpoint });
      if (request) {
        requests.push(request);
        free -= request.firstAttempts + request.retries;
        freeForRetries -= request.retries;
      } else if (endpoint.inFlight === 0) {
        this.#starved.add(endpoint);
      }
    }
    return requests;
  }

  async #claim(requests: readonly ClaimRequest[], now: number): Promise<void> {
    const { queue, settings } = this.#deps;
    const leaseEnds = now + settings.leaseMs;
    try {
      const claim = await queue.claim(
        requests,
        new Date(now).toISOString(),
        new Date(leaseEnds).toISOString(),
      );
      this.#lastError = undefined;
      if (this.#state === 'running') this.#take(claim, leaseEnds);
      else
        await queue.release(
          claim.deliveries.map(({ lease }) => lease),
          new Date(this.#deps.now()).toISOString(),
        );
    } catch (error) {
      this.#report(error, 'webhooks: cannot claim work');
      await new Promise((resolve) => setTimeout(resolve, AFTER_ERROR_MS));
      for (const { webhookId } of requests) {
        const endpoint = this.#endpoint(webhookId);
        endpoint.wake(now);
        endpoint.retryAt(now);
        this.#hungry.add(endpoint);
      }
    }
  }

  #take({ deliveries, schedules }: Claim, leaseEnds: number): void {
    for (const schedule of schedules) {
      const endpoint = this.#endpoint(schedule.webhookId);
      endpoint.learn(schedule);
      this.#expect(endpoint);
    }
    for (const delivery of deliveries) {
      const run: Promise<void> = this.#run({ delivery, leaseEnds }).finally(() => this.#running.delete(run));
      this.#running.add(run);
    }
  }

  async #run(first: Task): Promise<void> {
    const endpoint = this.#endpoint(first.delivery.lease.webhookId);
    const retry = isRetry(first.delivery) ? 1 : 0;
    this.#count(endpoint, 1, retry);
    const mayKeepLane = () => this.#state === 'running' && endpoint.breaker.probeAt === undefined;
    try {
      let task: Task | undefined = first;
      while (task) task = await this.#runner.attempt(task, endpoint, mayKeepLane);
    } catch (error) {
      // Nothing is lost: the lease ends, and somebody makes the attempt again.
      this.#report(error, 'webhooks: result not stored');
    } finally {
      this.#count(endpoint, -1, -retry);
      this.#deps.metrics.inFlight(this.#inFlight);
      this.#expect(endpoint);
      for (const starved of this.#starved) this.#hungry.add(starved);
      this.#starved.clear();
      this.#pump();
    }
  }

  #count(endpoint: Endpoint, one: number, retry: number): void {
    this.#inFlight += one;
    this.#retriesInFlight += retry;
    endpoint.inFlight += one;
    endpoint.retriesInFlight += retry;
  }

  #report(error: unknown, message: string): void {
    this.#lastError = error instanceof Error ? error.message : String(error);
    this.#deps.logger.error({ err: error }, message);
  }
}
