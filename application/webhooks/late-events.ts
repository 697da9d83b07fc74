import { loanStream } from '../command-handling/operation.ts';
import { UnreadableEventError } from '../event-codec/fields.ts';
import type { DeliveryQueue } from './queue/delivery-queue.ts';
import type { PublicEvent } from '../ports/event-bus.ts';
import type { EventStore } from '../ports/event-store.ts';
import type { Translator } from '../publication/public-events.ts';
import type { fanOutTo } from './fan-out.ts';

export interface DeadLetter {
  /** Undefined, like the others, for a message that does not say it. */
  readonly eventId: string | undefined;
  readonly name: string | undefined;
  readonly applicationId: string | undefined;
  readonly code: string | undefined;
  readonly group: string;
  readonly reason: string;
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  readonly putAsideAt: string;
}

export interface DeadLetters {
  /** In the order in which they were put aside; a message that was put aside again after a crash comes once. */
  list(): Promise<readonly DeadLetter[]>;
  isHandled(group: string, event: PublicEvent): Promise<boolean>;
  noteHandled(group: string, event: PublicEvent): Promise<void>;
}

interface Dependencies {
  readonly letters: DeadLetters;
  readonly group: string;
  readonly events: Pick<EventStore, 'read'>;
  readonly translator: Translator;
  readonly fanOut: ReturnType<typeof fanOutTo>;
  readonly queue: Pick<DeliveryQueue, 'findEvent'>;
}

export interface LateEvent extends DeadLetter {
  /** Undefined where the log holds no such event that this program can read. */
  readonly event: PublicEvent | undefined;
  /** Its webhooks are made: it was sent on, or the group has handled it after all. */
  readonly handled: boolean;
}

interface SentOn {
  readonly eventId: string;
  /** `already`: its webhooks were made before; `unknown`: the log holds no such event that this program can read. */
  readonly outcome: 'queued' | 'already' | 'unknown';
  readonly webhookIds: readonly string[];
}

/**
 * Events that the fan-out put aside. What is sent is made from the log, not from the letter. It goes into its operation's lanes, so
 * before what still waits there and after what was delivered: subscribers get it out of order.
 */
export class LateEvents {
  readonly #deps: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#deps = dependencies;
  }

  async list(): Promise<readonly LateEvent[]> {
    const { letters, group } = this.#deps;
    const found = new Map<string, LateEvent>();
    for (const letter of await letters.list()) {
      if (letter.group !== group) continue;
      const event = await this.#inLog(letter);
      const handled = event !== undefined && (await letters.isHandled(group, event));
      const key = letter.eventId ?? `${letter.topic} ${letter.partition} ${letter.offset}`;
      if (!found.has(key)) found.set(key, { ...letter, event, handled });
    }
    return [...found.values()];
  }

  /** Queues its webhooks now, durably, and remembers it: a second time queues nothing. */
  async send(late: LateEvent & { readonly eventId: string }): Promise<SentOn> {
    const { letters, group, fanOut } = this.#deps;
    const { eventId, event } = late;
    if (!event) return { eventId, outcome: 'unknown', webhookIds: [] };
    if (await letters.isHandled(group, event)) return { eventId, outcome: 'already', webhookIds: [] };
    const before = new Set(await this.#queuedFor(event));
    await fanOut([event]);
    await letters.noteHandled(group, event);
    const webhookIds = (await this.#queuedFor(event)).filter((one) => !before.has(one));
    return { eventId, outcome: 'queued', webhookIds };
  }

  async #queuedFor({ applicationId, eventId }: PublicEvent): Promise<readonly string[]> {
    return (await this.#deps.queue.findEvent(applicationId, eventId))?.webhookIds ?? [];
  }

  async #inLog({ applicationId, code, eventId }: DeadLetter): Promise<PublicEvent | undefined> {
    if (applicationId === undefined || code === undefined) return undefined;
    const { events } = await this.#deps.events.read(loanStream(applicationId, code));
    const recorded = events.find(({ id }) => id === eventId);
    try {
      return recorded && (await this.#deps.translator.translate([recorded]))[0];
    } catch (error) {
      if (error instanceof UnreadableEventError) return undefined;
      throw error;
    }
  }
}
