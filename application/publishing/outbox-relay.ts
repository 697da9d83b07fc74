import { Checkpoint } from '../coordination/log-follower.ts';
import { UnreadableEventError } from '../event-codec/fields.ts';
import type { CheckpointStore } from '../ports/coordination.ts';
import type { EventBus, HeldBack, PublicEvent, RelayQuarantine } from '../ports/event-bus.ts';
import type { EventStore, EventSubscription, LogPosition, RecordedEvent } from '../ports/event-store.ts';
import type { Logger } from '../ports/logger.ts';
import { Outage, repeatUntilAborted } from '../support/retry.ts';
import type { Pause } from '../support/retry.ts';
import type { Translator } from './public-event-translator.ts';

interface HeldOperationsDependencies {
  readonly quarantine: RelayQuarantine;
  readonly events: Pick<EventStore, 'read'>;
  readonly bus: Pick<EventBus, 'publish'>;
  readonly translator: Translator;
  readonly logger: Logger;
}

/** Where more operations would have to wait, it is the program that is wrong and not their events. */
const MOST_OPERATIONS = 100;

/** What will fail again for this event; anything else may pass. */
const isOfTheEvent = (error: unknown): error is Error =>
  error instanceof UnreadableEventError || error instanceof TypeError || error instanceof RangeError;

/** Operations whose events the relay holds back, because one of them cannot be translated; the others go on. */
export class HeldOperations {
  readonly #deps: HeldOperationsDependencies;
  #held = new Map<string, HeldBack>();

  constructor(dependencies: HeldOperationsDependencies) {
    this.#deps = dependencies;
  }

  get size(): number {
    return this.#held.size;
  }

  async load(): Promise<void> {
    this.#held = new Map((await this.#deps.quarantine.list()).map((entry) => [entry.stream, entry]));
  }

  /** Public events of those recorded ones whose operations are not held back. @throws what may pass, and what no operation can wait for */
  async translate(recorded: readonly RecordedEvent[]): Promise<readonly PublicEvent[]> {
    const free = this.#held.size === 0 ? recorded : recorded.filter(({ stream }) => !this.#held.has(stream));
    try {
      return await this.#deps.translator.translate(free);
    } catch (error) {
      if (!isOfTheEvent(error)) throw error;
      return this.#oneByOne(free);
    }
  }

  async #oneByOne(recorded: readonly RecordedEvent[]): Promise<readonly PublicEvent[]> {
    const events: PublicEvent[] = [];
    for (const one of recorded) {
      if (this.#held.has(one.stream)) continue;
      try {
        events.push(...(await this.#deps.translator.translate([one])));
      } catch (error) {
        if (!isOfTheEvent(error) || this.#held.size >= MOST_OPERATIONS) throw error;
        await this.#hold(one, error);
      }
    }
    return events;
  }

  /** Durable before the relay's position passes the event. */
  async #hold({ stream, revision, type, position }: RecordedEvent, error: Error): Promise<void> {
    const entry = { stream, revision, eventType: type, reason: error.message };
    await this.#deps.quarantine.put(entry);
    this.#held.set(stream, entry);
    this.#deps.logger.error(
      { event: { stream, revision: String(revision), type, position }, error: error.message },
      'an operation waits in quarantine, unpublished: `receivables quarantine list` shows it',
    );
  }

  async anyReleased(): Promise<boolean> {
    return this.#held.size > 0 && (await this.#deps.quarantine.list()).some(({ released }) => released);
  }

  /**
   * Publishes what waited of released operations, in its order, while nothing else is being published. What comes after the relay's
   * position goes out twice, as after any crash; what is still unreadable goes on waiting.
   */
  async publishReleased(): Promise<void> {
    for (const entry of await this.#deps.quarantine.list()) {
      if (!entry.released) continue;
      const { events } = await this.#deps.events.read(entry.stream);
      const waiting = events.filter(({ revision }) => revision >= entry.revision);
      this.#held.delete(entry.stream);
      const published = await this.translate(waiting);
      if (this.#held.has(entry.stream)) continue;
      if (published.length > 0) await this.#deps.bus.publish(published);
      await this.#deps.quarantine.remove(entry.stream);
      this.#deps.logger.info(
        { stream: entry.stream, events: waiting.length },
        'a released operation is published',
      );
    }
  }
}

interface Dependencies {
  readonly subscription: EventSubscription;
  readonly checkpoints: CheckpointStore;
  readonly bus: EventBus;
  readonly held: Pick<HeldOperations, 'size' | 'load' | 'translate' | 'anyReleased' | 'publishReleased'>;
  readonly logger: Logger;
  /** Only streams whose name starts so. */
  readonly streamPrefix: string;
  readonly sleep: Pause;
}

export interface RelayStatus {
  readonly state: 'stopped' | 'running' | 'backing_off';
  /** Everything up to here is on the bus. */
  readonly position: LogPosition | 'start' | undefined;
  /** True once it has seen all there was; false again while it retries. */
  readonly caughtUp: boolean;
  readonly lastError: string | undefined;
  /** Operations whose events wait until an operator releases them. */
  readonly quarantined: number;
}

/** How soon a released operation is noticed. */
export const LOOK_FOR_RELEASES_MS = 1_000;
const CHECKPOINT = 'outbox-relay';

/**
 * Carries every stored event to the bus: in log order, at least once. The position is stored only after the bus has taken the
 * batch, so a crash in between repeats the batch and loses nothing. A relay that was frozen while another took over may repeat what
 * that one sent: each begins at or before the stored position and leaves nothing out, so what comes first of each event still comes
 * in order; and it cannot set the position back. An event that cannot be translated puts its operation into quarantine, where it and all that
 * follow it wait in their order; the others go on.
 */
export class OutboxRelay {
  readonly #deps: Dependencies;
  #stopping = new AbortController();
  #running: Promise<void> | undefined;
  #status: Omit<RelayStatus, 'quarantined'> = {
    state: 'stopped',
    position: undefined,
    caughtUp: false,
    lastError: undefined,
  };
  readonly #checkpoint: Checkpoint;
  readonly #outage: Outage;

  constructor(dependencies: Dependencies) {
    this.#deps = dependencies;
    this.#checkpoint = new Checkpoint(dependencies.checkpoints, CHECKPOINT);
    this.#outage = new Outage({ logger: dependencies.logger, what: 'outbox relay' });
  }

  start(): void {
    if (this.#running) return;
    this.#stopping = new AbortController();
    this.#running = this.#run(this.#stopping.signal);
  }

  /** Resolves when the batch at hand is finished. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
    this.#running = undefined;
    this.#note({ state: 'stopped' });
  }

  status(): RelayStatus {
    return { ...this.#status, quarantined: this.#deps.held.size };
  }

  #note(change: Partial<RelayStatus>): void {
    this.#status = { ...this.#status, ...change };
  }

  async #run(signal: AbortSignal): Promise<void> {
    const afterFailure = (error: unknown): number => this.#noteFailure(error);
    await repeatUntilAborted(() => this.#relay(signal), afterFailure, this.#deps.sleep, signal);
  }

  async #relay(signal: AbortSignal): Promise<void> {
    const { subscription, streamPrefix, held } = this.#deps;
    const from = await this.#checkpoint.load();
    await held.load();
    await held.publishReleased();
    // Trying again is not yet working again.
    this.#note(
      this.#outage.lastError === undefined ? { state: 'running', position: from } : { position: from },
    );
    const released = new AbortController();
    const ending = AbortSignal.any([signal, released.signal]);
    const looking = this.#lookForReleases(released, ending);
    try {
      for await (const message of subscription.subscribe({ from, streamPrefix, signal: ending })) {
        if (message.kind === 'caught_up') this.#caughtUp();
        else await this.#forward(message.kind === 'events' ? message.events : [], message.checkpoint);
      }
      if (!ending.aborted) throw new Error('the subscription ended by itself');
    } finally {
      released.abort();
      await looking;
    }
  }

  /** Ends the following, which then begins with what was released. */
  async #lookForReleases(released: AbortController, signal: AbortSignal): Promise<void> {
    const { held, sleep } = this.#deps;
    while (!signal.aborted) {
      await sleep(LOOK_FOR_RELEASES_MS, signal);
      if (signal.aborted || held.size === 0) continue;
      // A store that is away is the following's to tell of.
      if (await held.anyReleased().catch(() => false)) released.abort();
    }
  }

  #caughtUp(): void {
    this.#outage.over();
    this.#note({ state: 'running', caughtUp: true, lastError: undefined });
  }

  async #forward(recorded: readonly RecordedEvent[], position: LogPosition): Promise<void> {
    const events = await this.#deps.held.translate(recorded);
    if (events.length > 0) await this.#deps.bus.publish(events);
    await this.#checkpoint.advance(position);
    this.#outage.over();
    this.#note({ state: 'running', position, lastError: undefined });
  }

  #noteFailure(error: unknown): number {
    const pauseMs = this.#outage.failed(error);
    this.#note({ state: 'backing_off', caughtUp: false, lastError: this.#outage.lastError });
    return pauseMs;
  }
}
