import { running } from '../coordination/background.ts';
import type { Background } from '../coordination/background.ts';
import type { LogPosition, RecordedEvent, SubscriptionMessage } from '../ports/event-store.ts';
import type { Logger } from '../ports/logger.ts';
import { RefusedWritesError } from '../ports/read-models.ts';
import { Outage, repeatUntilAborted } from '../support/retry.ts';
import type { Pause } from '../support/retry.ts';
import { PoisonEventError, isPoison } from './processor.ts';
import type { Done, Followed, Held, Place, Processor, Status } from './processor.ts';
import { Progress, named, nothingUpTo } from './progress.ts';

export interface RunnerDependencies {
  readonly logger: Logger;
  readonly pause: Pause;
}

export const LOOK_FOR_RELEASES_MS = 1_000;

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });

/** What is gathered has waited for long enough. */
interface Due {
  readonly kind: 'due';
}

/**
 * Follows the log, or whatever its source is, for one processor: each batch is handled, and what it writes is stored with its place, so that wherever the process dies
 * the next one goes on from there. After any failure the place is read again, which also settles a commit whose answer was lost.
 */
export class Runner<W, E extends Followed = RecordedEvent> implements Background {
  readonly #processor: Processor<W, E>;
  readonly #deps: RunnerDependencies;
  readonly #progress: Progress<W, E>;
  readonly #outage: Outage;
  readonly #background: Background;
  #state: Status['state'] = 'stopped';
  #halted: string | undefined;

  constructor(processor: Processor<W, E>, dependencies: RunnerDependencies) {
    const { what, fields, pauses } = processor;
    const { logger } = dependencies;
    this.#processor = processor;
    this.#deps = dependencies;
    this.#progress = new Progress(processor, logger);
    this.#outage = new Outage({ logger, what, ...(fields && { fields }), ...pauses });
    this.#background = running(what, (signal) => this.run(signal));
  }

  get name(): string {
    return this.#processor.what;
  }

  get place(): Place {
    return this.#progress.place;
  }

  get held(): ReadonlyMap<string, Held> {
    return this.#progress.steps.held;
  }

  start(): void {
    this.#background.start();
  }

  /** Finishes the batch at hand. After a halt, stop and start try the event again. */
  stop(): Promise<void> {
    return this.#background.stop();
  }

  isStuck(): boolean {
    return this.#state === 'halted';
  }

  status(): Status {
    const lastError = this.#halted ?? this.#outage.lastError;
    return {
      name: this.name,
      state: this.#state,
      position: this.place,
      caughtUp: this.#state === 'running' && this.#progress.live,
      quarantined: this.held.size,
      ...(lastError !== undefined && { lastError }),
    };
  }

  /** Works until the signal ends. Whatever fails is tried again from the place that is stored. */
  async run(signal: AbortSignal): Promise<void> {
    [this.#state, this.#halted, this.#progress.live] = ['running', undefined, false];
    const afterFailure = (error: unknown): number => {
      this.#state = 'retrying';
      return this.#outage.failed(error);
    };
    await repeatUntilAborted(() => this.#untilHalted(signal), afterFailure, this.#deps.pause, signal);
    this.#state = 'stopped';
    this.#processor.watch?.ended?.();
  }

  async load(): Promise<Place> {
    if (await this.#progress.load()) this.#outage.over();
    return this.place;
  }

  /** False when another process moved the place: only `load` tells then where it is. @throws PoisonEventError */
  async take(message: SubscriptionMessage<E> | Due, signal: AbortSignal): Promise<boolean> {
    const progress = this.#progress;
    if (message.kind === 'events') {
      const taken = await this.#takeEvents(message.events, message.checkpoint, signal);
      if (taken) progress.steps.aside.clear();
      return taken;
    }
    if (message.kind === 'checkpoint') {
      const { checkpoint } = message;
      const mayWait = this.#processor.gather !== undefined;
      return checkpoint === this.place || progress.keep(nothingUpTo(checkpoint, mayWait), checkpoint);
    }
    // What was found there is stored as that, before anything that comes now.
    if ((message.kind === 'due' || !progress.live) && !(await this.#flush())) return false;
    progress.live ||= message.kind === 'caught_up';
    return true;
  }

  async #untilHalted(signal: AbortSignal): Promise<void> {
    try {
      await this.#follow(signal);
    } catch (error) {
      if (!isPoison<E>(error)) throw error;
      this.#halt(error);
      await aborted(signal);
    }
  }

  async #follow(signal: AbortSignal): Promise<void> {
    await this.load();
    if (!(await this.#takeReleased(signal))) return;
    const ending = new AbortController();
    const either = AbortSignal.any([signal, ending.signal]);
    const looking = this.#lookForReleases(ending, either);
    try {
      for await (const message of this.#messages(either)) {
        if (!(await this.take(message, signal))) return;
        this.#works();
      }
      if (!either.aborted) throw new Error('the log ended its subscription');
      await this.#flush();
    } finally {
      ending.abort();
      await looking;
    }
  }

  /** What is only gathered may still fail where it is stored. */
  #works(): void {
    const { gather } = this.#processor;
    if (this.#progress.isGathering && !gather?.lazily) return;
    this.#outage.over();
    this.#state = 'running';
  }

  async #flush(): Promise<boolean> {
    return this.#processor.gather?.lazily ?? this.#progress.flush();
  }

  #messages(signal: AbortSignal): AsyncIterable<SubscriptionMessage<E> | Due> {
    const { source, streamPrefix, batchSize, gather } = this.#processor;
    const messages = source.subscribe({
      from: this.place,
      signal,
      ...(streamPrefix !== undefined && { streamPrefix }),
      ...(batchSize !== undefined && { batchSize }),
    });
    if (gather?.ms === undefined) return messages;
    const isWaiting = (): boolean => this.#progress.isGathering;
    return gathering(messages, { ms: gather.ms, isWaiting, pause: this.#deps.pause, signal });
  }

  async #takeEvents(events: readonly E[], to: LogPosition, signal: AbortSignal): Promise<boolean> {
    const { steps } = this.#progress;
    const before = new Map(steps.held);
    const step = await steps.of(events, signal);
    const { poison, through, writes } = step;
    try {
      if (through && !(await this.#progress.keep(step, poison ? through : to))) return false;
    } catch (error) {
      if (!(error instanceof RefusedWritesError)) throw error;
      steps.held = before;
      if (events.length > 1) return this.#takeOneByOne(events, to, signal);
      const refused = new PoisonEventError(events[0]!, error);
      if (await steps.putAside(refused)) return this.#progress.keep(nothingUpTo(to), to);
      const holds = steps.instead(refused, writes);
      return this.#progress.keep({ ...nothingUpTo(to), holds }, to);
    }
    if (poison) throw poison;
    return true;
  }

  /** The store refused them together: all but what it refuses alone still get in. */
  async #takeOneByOne(events: readonly E[], to: LogPosition, signal: AbortSignal): Promise<boolean> {
    for (const event of events) if (!(await this.#takeEvents([event], event.position, signal))) return false;
    return to === this.place || this.#progress.keep(nothingUpTo(to), to);
  }

  /** In their order, while nothing else is handled. What lies behind the place is handled once more when its turn comes. */
  async #takeReleased(signal: AbortSignal): Promise<boolean> {
    const waiting = this.#processor.holding?.waiting;
    for (const held of waiting ? [...this.held.values()] : []) {
      if (!held.released) continue;
      const { stream } = held;
      const events = await waiting!(held);
      this.#progress.steps.held.delete(stream);
      const work = await this.#workOf(held, events, signal);
      if (!(await this.#progress.store({ ...work, events: [], to: this.place }))) return false;
      if (!this.held.has(stream))
        this.#deps.logger.info({ stream, events: events.length }, 'a released operation is published');
    }
    return true;
  }

  /** All of a released stream, or nothing of it. */
  async #workOf(
    { stream, revision }: Held,
    events: readonly E[],
    signal: AbortSignal,
  ): Promise<Pick<Done<W>, 'writes' | 'holds'>> {
    try {
      const { writes } = await this.#processor.handle(events, signal);
      return { writes, holds: [{ kind: 'remove', stream, revision }] };
    } catch (error) {
      if (!isPoison<E>(error)) throw error;
      return { writes: [], holds: this.#progress.steps.instead(error, []) };
    }
  }

  /** Ends the following, which then begins with what was released. */
  async #lookForReleases(released: AbortController, signal: AbortSignal): Promise<void> {
    if (!this.#processor.holding?.waiting) return;
    while (!signal.aborted) {
      await this.#deps.pause(LOOK_FOR_RELEASES_MS, signal);
      if (signal.aborted || this.held.size === 0) continue;
      // A store that is away is the following's to tell of.
      const stored = await this.#processor.store.load().catch(() => undefined);
      if (stored?.held.some((one) => one.released)) released.abort();
    }
  }

  #halt(poison: PoisonEventError<E>): void {
    [this.#state, this.#halted] = ['halted', poison.message];
    const { fields, what, watch } = this.#processor;
    const event = { id: poison.event.id, ...named(poison.event) };
    this.#deps.logger.error({ ...fields, event, error: poison.message }, `${what} halted by an event`);
    watch?.ended?.();
  }
}

interface Timing {
  readonly ms: number;
  readonly isWaiting: () => boolean;
  readonly pause: Pause;
  readonly signal: AbortSignal;
}

async function* gathering<E>(
  messages: AsyncIterable<SubscriptionMessage<E>>,
  { ms, isWaiting, pause, signal }: Timing,
): AsyncGenerator<SubscriptionMessage<E> | Due, void, undefined> {
  const iterator = messages[Symbol.asyncIterator]();
  let due: Promise<undefined> | undefined;
  let next = iterator.next();
  try {
    for (;;) {
      due = isWaiting() ? (due ?? pause(ms, signal).then(() => undefined)) : undefined;
      const come = due && !signal.aborted ? await Promise.race([next, due]) : await next;
      if (come?.done) return;
      if (!come) due = undefined;
      yield come ? come.value : { kind: 'due' };
      if (come) next = iterator.next();
    }
  } finally {
    // The iterator may still wait for a message, and ends with the signal.
    next.catch(() => undefined);
    iterator.return?.()?.catch(() => undefined);
  }
}
