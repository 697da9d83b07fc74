import { LineAMinute } from '../../support/line-a-minute.ts';
import { pause, within } from '../../support/time.ts';
import { messageOf } from '../../../application/support/failures.ts';
import type {
  LeasedLanes,
  LeaseRequest,
  LaneSchedule,
  LeasedDelivery,
} from '../../../application/webhooks/queue/lease-lanes.ts';
import { EndpointSchedule } from './endpoints.ts';
import { SlotLimiter } from './slot-limiter.ts';
import { ClockSteps, gathered, iso } from './dispatch-settings.ts';
import type { Endpoint } from './endpoints.ts';
import { LaneRunner, isRetry } from './lane-runner.ts';
import type { Ended, RunnerDependencies } from './lane-runner.ts';
import type { Located } from '../sending/webhook-sender.ts';

const MOST_ENDPOINTS_A_LEASE = 32;
const AFTER_ERROR_MS = 500;
const AFTER_EMPTY_LEASE_MS = 500;
const LAST_MOMENTS_MS = 1_000;

const notBefore = (instant: string | null, earliest: string): string | null =>
  instant !== null && instant < earliest ? earliest : instant;

/** Where a lease brings nothing although something is due, the next one waits a moment: a queue that is wrong must not cost a core. */
const afterEmptyLease = ({ webhookId, firstAttemptAt, retryAt }: LaneSchedule, now: number): LaneSchedule => {
  const earliest = iso(now + AFTER_EMPTY_LEASE_MS);
  return {
    webhookId,
    firstAttemptAt: notBefore(firstAttemptAt, earliest),
    retryAt: notBefore(retryAt, earliest),
  };
};

/**
 * Hands lanes to runners. One request for leases at a time, for as many lanes as there are free slots; woken by new work, by results and by
 * the schedule. Everything known here is a hint: what may be sent is decided by the queue.
 */
export class WebhookDispatcher {
  readonly #deps: RunnerDependencies;
  readonly #runner: LaneRunner;
  readonly #schedule: EndpointSchedule;
  readonly #turns: SlotLimiter;
  readonly #running = new Set<Promise<void>>();
  #state: 'stopped' | 'running' | 'stopping' = 'stopped';
  #inFlight = 0;
  #retriesInFlight = 0;
  /** Lanes that wait for a name server: they hold nothing that another endpoint could use. */
  #locating = 0;
  #leasing: Promise<void> | undefined;
  #looking: Promise<void> | undefined;
  #lookTimer: NodeJS.Timeout | undefined;
  readonly #steps: ClockSteps;
  /** At first the clock may have been set back while nothing ran. */
  #clock: 'unsure' | 'set back' | 'known' = 'unsure';
  readonly #troubles: LineAMinute;
  #lastError: string | undefined;

  constructor(dependencies: RunnerDependencies) {
    const { settings, now } = dependencies;
    const { breaker } = settings;
    this.#deps = dependencies;
    this.#troubles = new LineAMinute((fields, message) => dependencies.logger.error(fields, message));
    this.#runner = new LaneRunner(dependencies);
    this.#turns = new SlotLimiter(settings);
    this.#steps = new ClockSteps(now);
    this.#schedule = new EndpointSchedule({ breaker, now, onDue: () => this.#pump() });
  }

  /** Once in the life of the object. */
  start(): void {
    if (this.#state !== 'stopped') return;
    this.#state = 'running';
    this.#looking = this.#look();
  }

  status() {
    return { state: this.#state, inFlight: this.#running.size, lastError: this.#lastError };
  }

  /** There is something new for these subscriptions, or somebody has seen to them: they are tried at once then, however they fared. */
  wake(webhookIds: readonly string[], seenTo = false): void {
    if (this.#state !== 'running') return;
    for (const webhookId of webhookIds) this.#schedule.wake(webhookId, seenTo);
    this.#pump();
  }

  /** Lets what is under way finish for so long, then cuts it off and gives its lanes back. */
  async stop(graceMs: number): Promise<void> {
    if (this.#state === 'stopped') return;
    this.#state = 'stopping';
    this.#schedule.close();
    clearTimeout(this.#lookTimer);
    await this.#idleWithin(graceMs);
    this.#deps.sender.close();
    await this.#idleWithin(LAST_MOMENTS_MS);
    this.#state = 'stopped';
  }

  async #idleWithin(ms: number): Promise<void> {
    const idle = async (): Promise<void> => {
      await Promise.all([this.#leasing, this.#looking]);
      await Promise.all(this.#running);
    };
    await within(ms, 'what is under way', idle()).catch(() => undefined);
  }

  /** Finds what this process was not told of: work of another process, work from before the start, ended leases. */
  async #look(): Promise<void> {
    try {
      const { queue, now } = this.#deps;
      await this.#noticeClock();
      for (const schedule of await queue.schedules(iso(now()))) this.#schedule.learn(schedule);
      this.#schedule.tidy();
    } catch (error) {
      this.#report(error, 'webhooks: cannot look for work');
    }
    if (this.#state !== 'running') return;
    this.#lookTimer = setTimeout(() => {
      this.#looking = this.#look();
    }, this.#deps.settings.lookEveryMs);
    this.#pump();
  }

  /** What was planned by a clock that was set back since would wait for the difference as well. */
  async #noticeClock(): Promise<void> {
    const { queue, now, settings, logger } = this.#deps;
    const stepMs = this.#steps.look();
    if (stepMs < 0) {
      logger.warn({ by_ms: -stepMs }, 'webhooks: the clock was set back, what waits is planned anew');
      this.#schedule.shift(stepMs);
      this.#clock = 'set back';
    }
    if (this.#clock === 'known') return;
    const { schedule: gaps, leaseMs } = settings;
    await queue.planAnew({ gaps, leaseMs }, iso(now()), this.#clock === 'set back');
    this.#clock = 'known';
  }

  #pump(): void {
    if (this.#leasing || this.#state !== 'running') return;
    const now = this.#deps.now();
    const requests = this.#plan(now);
    if (requests.length === 0) return;
    this.#leasing = this.#lease(requests, now).finally(() => {
      this.#leasing = undefined;
      this.#pump();
    });
  }

  /** Endpoints take turns; each may take a quarter of what is free, so the first ones leave something for the last. */
  #plan(now: number): LeaseRequest[] {
    const { slots, slotsForFirstAttempts, slotsPerEndpoint } = this.#deps.settings;
    const requests: LeaseRequest[] = [];
    let total = Math.min(slots - this.#inFlight, 2 * slots - (this.#running.size - this.#locating));
    let retries = slots - slotsForFirstAttempts - this.#retriesInFlight;
    for (const endpoint of this.#schedule.due(now)) {
      const room = (beside: number): number => total - (slots - endpoint.shareOf(slots, beside));
      const free = Math.max(room(1), Math.min(1, room(endpoint.inFlight)));
      const perEndpoint = Math.max(1, Math.min(slotsPerEndpoint, Math.floor(free / 4)));
      const request = endpoint.request(now, { total: free, retries, perEndpoint });
      if (request) {
        total -= request.firstAttempts + request.retries;
        retries -= request.retries;
        if (requests.push(request) === MOST_ENDPOINTS_A_LEASE) break;
      } else if (endpoint.inFlight === 0) {
        // Its own results would wake it; without any, a slot that another endpoint frees has to.
        this.#schedule.starve(endpoint);
      }
    }
    return requests;
  }

  async #lease(requests: readonly LeaseRequest[], now: number): Promise<void> {
    const { queue, settings } = this.#deps;
    const askedAt = performance.now();
    try {
      const leased = await queue.lease(requests, iso(now), iso(now + settings.leaseMs));
      this.#lastError = undefined;
      if (this.#state === 'running') {
        this.#take(leased, now, askedAt);
        return await gathered(leased.deliveries.length, settings.gatherMs);
      }
      const leases = leased.deliveries.map(({ lease }) => lease);
      await queue.release(leases, iso(this.#deps.now()));
    } catch (error) {
      this.#report(error, 'webhooks: cannot claim work');
      await pause(AFTER_ERROR_MS);
      for (const { webhookId } of requests) this.#schedule.reconsider(webhookId);
    }
  }

  #take({ deliveries, schedules }: LeasedLanes, now: number, askedAt: number): void {
    const brought = new Set(deliveries.map(({ lease }) => lease.webhookId));
    for (const schedule of schedules) {
      this.#schedule.learn(brought.has(schedule.webhookId) ? schedule : afterEmptyLease(schedule, now));
    }
    for (const delivery of deliveries) {
      const run: Promise<void> = this.#run(delivery, askedAt).finally(() => this.#running.delete(run));
      this.#running.add(run);
    }
  }

  async #run(first: LeasedDelivery, firstAskedAt: number): Promise<void> {
    const endpoint = this.#schedule.endpoint(first.lease.webhookId);
    const goesOn = () => this.#state === 'running' && endpoint.breaker.probeAt === undefined;
    endpoint.lanes += 1;
    try {
      let ended = await this.#send(first, endpoint, firstAskedAt, () => this.#state === 'running');
      while (ended) {
        const askedAt = performance.now();
        const next = await this.#runner.store(ended, endpoint, goesOn());
        ended = next && (await this.#send(next, endpoint, askedAt, goesOn));
      }
    } catch (error) {
      // Nothing is lost: the lease ends, and a worker makes the attempt again.
      this.#report(error, 'webhooks: result not stored');
    } finally {
      endpoint.lanes -= 1;
      this.#freed(endpoint);
    }
  }

  /** Holds a slot while it sends, not while the result is stored: a disk or a database that is slow leaves none unused. */
  async #send(
    delivery: LeasedDelivery,
    endpoint: Endpoint,
    askedAt: number,
    maySend: () => boolean,
  ): Promise<Ended | undefined> {
    const retry = isRetry(delivery) ? 1 : 0;
    endpoint.count(1, retry);
    this.#count(1, retry);
    try {
      const startedAt = this.#deps.now();
      const begunAt = performance.now();
      const location = this.#runner.locate(delivery);
      const located = location instanceof Promise ? await this.#aside(location, retry) : location;
      const locatingMs = performance.now() - begunAt;
      const endedAt = startedAt + locatingMs;
      switch (located.kind) {
        case 'found':
          return await this.#inTurn(endpoint, async () => {
            const maySendNow = maySend() && (await this.#runner.isCurrent(delivery, askedAt));
            if (!maySendNow) return this.#runner.giveBack(delivery, endpoint);
            return this.#runner.send(delivery, endpoint, located.route, locatingMs);
          });
        case 'failed':
          return this.#runner.end({ delivery, outcome: located, startedAt, endedAt }, endpoint);
        case 'abandoned':
          return await this.#runner.giveBack(delivery, endpoint);
      }
    } finally {
      endpoint.count(-1, -retry);
      this.#count(-1, -retry);
      this.#freed(endpoint);
    }
  }

  /** Gives the place among all endpoints' lanes to others meanwhile; the endpoint's own limit goes on counting it. */
  async #aside(location: Promise<Located>, retry: number): Promise<Located> {
    this.#locating += 1;
    this.#count(-1, -retry);
    this.#schedule.slotFreed();
    this.#pump();
    try {
      return await location;
    } finally {
      this.#locating -= 1;
      this.#count(1, retry);
    }
  }

  async #inTurn<Result>(endpoint: Endpoint, work: () => Promise<Result>): Promise<Result> {
    await this.#turns.take(endpoint);
    try {
      return await work();
    } finally {
      this.#turns.free(endpoint);
    }
  }

  #freed(endpoint: Endpoint): void {
    this.#schedule.expect(endpoint);
    this.#schedule.slotFreed();
    this.#pump();
  }

  #count(one: number, retry: number): void {
    this.#inFlight += one;
    this.#retriesInFlight += retry;
    this.#deps.metrics?.inFlight(this.#inFlight);
  }

  #report(error: unknown, message: string): void {
    this.#lastError = messageOf(error);
    this.#troubles.note(message, { err: error });
  }
}
