import type { LaneSchedule, LeaseRequest } from '../../../application/webhooks/queue/lease-lanes.ts';
import type { BreakerSettings } from './dispatch-settings.ts';

/** What failed or was slow so long ago, with nothing to send since, says nothing any more: its webhook may be deleted. */
const FORGOTTEN_AFTER_MS = 3_600_000;

/**
 * Closed until an endpoint failed so often in a row that it is plainly down; then open: one delivery at a time is let through as a
 * probe, and the others keep their attempts for later. The first sign of life closes it.
 */
export class Breaker {
  readonly #settings: BreakerSettings;
  #failures = 0;
  #failedAt = -Infinity;
  #pauseMs: number;
  #probeAt: number | undefined;
  #seenToAt = -Infinity;

  constructor(settings: BreakerSettings) {
    this.#settings = settings;
    this.#pauseMs = settings.firstPauseMs;
  }

  /** When the next probe may go; undefined while closed. */
  get probeAt(): number | undefined {
    return this.#probeAt;
  }

  isForgettable(now: number): boolean {
    return this.#failures === 0 || now - this.#failedAt > FORGOTTEN_AFTER_MS;
  }

  /** The clock was set, and everything that it planned is as far away as before. */
  shift(ms: number): void {
    this.#failedAt += ms;
    this.#seenToAt += ms;
    if (this.#probeAt !== undefined) this.#probeAt += ms;
  }

  /** True when this closed it. */
  alive(): boolean {
    const closed = this.#probeAt !== undefined;
    this.#failures = 0;
    this.#probeAt = undefined;
    this.#pauseMs = this.#settings.firstPauseMs;
    return closed;
  }

  /** Somebody has seen to the endpoint: it may be back, so the next probe waits for nothing, and what began before says nothing. */
  seenTo(now: number): void {
    this.#seenToAt = now;
    if (this.#probeAt === undefined) return;
    this.#probeAt = Math.min(this.#probeAt, now);
    this.#pauseMs = this.#settings.firstPauseMs;
  }

  /** True when this opened it. Attempts that were under way when it opened do not prolong the pause. */
  down(now: number, startedAt = now): boolean {
    if (startedAt < this.#seenToAt) return false;
    this.#failures += 1;
    this.#failedAt = now;
    if (this.#failures < this.#settings.failures) return false;
    if (this.#probeAt !== undefined && now < this.#probeAt) return false;
    const opened = this.#probeAt === undefined;
    if (!opened) this.#pauseMs = Math.min(this.#settings.longestPauseMs, this.#pauseMs * 2);
    this.#probeAt = now + this.#pauseMs;
    return opened;
  }
}

interface Allowance {
  readonly total: number;
  readonly retries: number;
  readonly perEndpoint: number;
}

const HEALTH_NOTE_MS = 1_000;
const SLOW_MS = 1_000;
const msOf = (instant: string | null): number => (instant === null ? Infinity : Date.parse(instant));

/** What one worker knows of one subscription: when it has work, how much of it is under way, how its endpoint fares. */
export class Endpoint {
  readonly webhookId: string;
  readonly breaker: Breaker;
  /** Lanes that are sending or wait for their turn; those whose result is being stored do not count. */
  inFlight = 0;
  retriesInFlight = 0;
  sending = 0;
  /** Lanes that are worked for it, also those whose result is being stored. */
  lanes = 0;
  #firstAt = Infinity;
  #retryAt = Infinity;
  #changedAt: string | undefined;
  #notedAt = -Infinity;
  #notedSuccess: boolean | undefined;
  /** When its last attempt ended, if that took long; NaN before the first has ended. */
  #slowAt = NaN;

  constructor(webhookId: string, breaker: BreakerSettings) {
    this.webhookId = webhookId;
    this.breaker = new Breaker(breaker);
  }

  count(lanes: number, retries: number): void {
    this.inFlight += lanes;
    this.retriesInFlight += retries;
  }

  attempted(endedAt: number, tookMs: number): void {
    this.#slowAt = tookMs < SLOW_MS ? -Infinity : endedAt;
  }

  /** Of all slots, those that it may help to fill. What is slow leaves some, so do further lanes of what is quick: many may hang at once. */
  shareOf(slots: number, beside: number): number {
    if (beside === 0 && !Number.isFinite(this.#slowAt)) return slots;
    return Math.ceil(slots * (this.#slowAt === -Infinity ? 0.875 : 0.75));
  }

  wake(now: number): void {
    this.#firstAt = Math.min(this.#firstAt, now);
  }

  retryAt(at: number): void {
    this.#retryAt = Math.min(this.#retryAt, at);
  }

  learn({ firstAttemptAt, retryAt, changedAt = this.#changedAt }: LaneSchedule, now: number): void {
    // By way of another process: it may have another address.
    if (this.#changedAt !== undefined && changedAt !== this.#changedAt) this.breaker.seenTo(now);
    this.#changedAt = changedAt;
    this.#firstAt = Math.min(this.#firstAt, msOf(firstAttemptAt));
    this.#retryAt = Math.min(this.#retryAt, msOf(retryAt));
  }

  shift(ms: number): void {
    this.breaker.shift(ms);
    this.#firstAt += ms;
    this.#retryAt += ms;
    this.#notedAt += ms;
    this.#slowAt += ms;
  }

  /** When it next has a lane that may be leased; Infinity when nothing is known. */
  get dueAt(): number {
    return Math.max(Math.min(this.#firstAt, this.#retryAt), this.breaker.probeAt ?? -Infinity);
  }

  isForgettable(now: number): boolean {
    if (this.lanes > 0 || this.dueAt < Infinity || now - this.#slowAt <= FORGOTTEN_AFTER_MS) return false;
    return this.breaker.isForgettable(now);
  }

  /** What to ask leases for now. The tiers asked for count as empty afterwards, until the answer or a wake says otherwise. */
  request(now: number, allowance: Allowance): LeaseRequest | undefined {
    const limit = this.breaker.probeAt === undefined ? allowance.perEndpoint : 1;
    const room = Math.min(limit - this.inFlight, allowance.total);
    // A busy endpoint waits until a few slots are free, so that one request fetches a few lanes.
    if (room <= 0 || (this.inFlight > 0 && room < limit / 4)) return undefined;
    const { firstAttempts, retries } = this.#split(now, room, allowance);
    if (firstAttempts + retries === 0) return undefined;
    if (firstAttempts > 0) this.#firstAt = Infinity;
    if (retries > 0) this.#retryAt = Infinity;
    return { webhookId: this.webhookId, firstAttempts, retries };
  }

  /** Retries get a quarter of the room while there are first attempts, and never all of the endpoint's slots. */
  #split(now: number, room: number, allowance: Allowance): { firstAttempts: number; retries: number } {
    const firstDue = this.#firstAt <= now;
    if (this.#retryAt > now) return { firstAttempts: firstDue ? room : 0, retries: 0 };
    const mostRetries = Math.max(1, Math.floor(allowance.perEndpoint * 0.75)) - this.retriesInFlight;
    const wanted = firstDue ? Math.ceil(room / 4) : room;
    const retries = Math.max(0, Math.min(wanted, mostRetries, allowance.retries));
    // With room for one of the two only, whichever has waited longer.
    if (firstDue && room === 1 && this.#firstAt < this.#retryAt) return { firstAttempts: 1, retries: 0 };
    return { firstAttempts: firstDue ? room - retries : 0, retries };
  }

  /** True when the subscription should show this result: each change at once, otherwise now and then. */
  shouldNote(success: boolean, now: number): boolean {
    if (success === this.#notedSuccess && now - this.#notedAt < HEALTH_NOTE_MS) return false;
    this.#notedSuccess = success;
    this.#notedAt = now;
    return true;
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

  /** There is something new for it, or somebody has seen to it. */
  wake(webhookId: string, seenTo = false): void {
    const endpoint = this.endpoint(webhookId);
    const now = this.#options.now();
    if (seenTo) endpoint.breaker.seenTo(now);
    endpoint.wake(now);
    this.#hungry.add(endpoint);
  }

  /** Leasing its lanes failed: everything it may have is to be looked at again. */
  reconsider(webhookId: string): void {
    this.endpoint(webhookId).retryAt(this.#options.now());
    this.wake(webhookId);
  }

  learn(schedule: LaneSchedule): void {
    const endpoint = this.endpoint(schedule.webhookId);
    endpoint.learn(schedule, this.#options.now());
    this.expect(endpoint);
  }

  /** Puts an endpoint where its next due time says. */
  expect(endpoint: Endpoint, now = this.#options.now()): void {
    if (endpoint.dueAt <= now) this.#hungry.add(endpoint);
    else if (endpoint.dueAt < this.#timerAt) this.#setTimer(endpoint.dueAt, now);
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

  /** The clock was set by so much. */
  shift(ms: number): void {
    clearTimeout(this.#timer);
    for (const endpoint of this.#endpoints.values()) endpoint.shift(ms);
    this.#onTimer();
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
    const now = this.#options.now();
    for (const [webhookId, endpoint] of this.#endpoints)
      if (endpoint.isForgettable(now) && !this.#hungry.has(endpoint)) this.#endpoints.delete(webhookId);
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }
}
