import { UnreadableEventError } from '../event-codec/fields.ts';
import type { EventBus, HeldBack, PublicEvent, RelayQuarantine } from '../ports/event-bus.ts';
import type { EventStore, RecordedEvent } from '../ports/event-store.ts';
import type { Logger } from '../ports/logger.ts';

interface Dependencies {
  readonly quarantine: RelayQuarantine;
  readonly events: Pick<EventStore, 'read'>;
  readonly bus: Pick<EventBus, 'publish'>;
  readonly translate: (recorded: readonly RecordedEvent[]) => Promise<readonly PublicEvent[]>;
  readonly logger: Logger;
}

/** Where more operations would have to wait, it is the program that is wrong and not their events. */
const MOST_OPERATIONS = 100;

/** What will fail again for this event; anything else may pass. */
const isOfTheEvent = (error: unknown): error is Error =>
  error instanceof UnreadableEventError || error instanceof TypeError || error instanceof RangeError;

/** Operations whose events the relay holds back, because one of them cannot be translated; the others go on. */
export class HeldOperations {
  readonly #deps: Dependencies;
  #held = new Map<string, HeldBack>();

  constructor(dependencies: Dependencies) {
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
      return await this.#deps.translate(free);
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
        events.push(...(await this.#deps.translate([one])));
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
