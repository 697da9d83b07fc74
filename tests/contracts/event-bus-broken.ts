import type { EventBus, PublicEvent } from '../../application/ports/event-bus.ts';
import type { EventHandler } from '../support/in-memory-event-bus.ts';
import { InMemoryEventBus } from '../support/in-memory-event-bus.ts';

/** Agrees to everything and does nothing. */
export class NoOpEventBus implements EventBus {
  async publish(): Promise<void> {}
  async consume(): Promise<void> {}
  async close(): Promise<void> {}
}

abstract class WrappedEventBus implements EventBus {
  protected readonly bus = new InMemoryEventBus({ firstRetryMs: 1 });
  publish(events: readonly PublicEvent[]): Promise<void> {
    return this.bus.publish(events);
  }
  consume(group: string, handler: EventHandler): Promise<void> {
    return this.bus.consume(group, handler);
  }
  close(): Promise<void> {
    return this.bus.close();
  }
}

/** Takes a batch for handled when its handler fails. */
export class GivesUpAtOnce extends WrappedEventBus {
  override consume(group: string, handler: EventHandler): Promise<void> {
    return super.consume(group, (events) => handler(events).catch(() => undefined));
  }
}

/** Lets later batches pass while a failed one waits. */
export class LetsBatchesOvertake extends WrappedEventBus {
  override consume(group: string, handler: EventHandler): Promise<void> {
    const attempt = (events: readonly PublicEvent[]): void =>
      void handler(events).catch(() => !this.#closed && setTimeout(() => attempt(events), 1));
    return super.consume(group, async (events) => attempt(events));
  }
  #closed = false;
  override close(): Promise<void> {
    this.#closed = true;
    return super.close();
  }
}

export class ServesOneGroup extends WrappedEventBus {
  #served = false;
  override async consume(group: string, handler: EventHandler): Promise<void> {
    if (this.#served) return;
    this.#served = true;
    await super.consume(group, handler);
  }
}

export class ReversesBatches extends WrappedEventBus {
  override publish(events: readonly PublicEvent[]): Promise<void> {
    return super.publish(events.toReversed());
  }
}

export class RewritesBodies extends WrappedEventBus {
  override publish(events: readonly PublicEvent[]): Promise<void> {
    const rewrite = (body: string): string => JSON.stringify(JSON.parse(body));
    return super.publish(events.map((event) => ({ ...event, body: rewrite(event.body) })));
  }
}

/** As if a later try could help. */
export class HidesThatItIsTooLarge extends WrappedEventBus {
  override async publish(events: readonly PublicEvent[]): Promise<void> {
    if (events.some(({ body }) => body.length > 1_000_000)) throw new Error('the broker said no');
    await super.publish(events);
  }
}

/** One failing group holds up all of them. */
export class ServesGroupsInTurn extends WrappedEventBus {
  readonly #handlers: EventHandler[] = [];
  override async consume(group: string, handler: EventHandler): Promise<void> {
    this.#handlers.push(handler);
    if (this.#handlers.length > 1) return;
    await super.consume(group, async (events) => {
      for (const each of this.#handlers) await each(events);
    });
  }
}

export class HandsOutNothing extends WrappedEventBus {
  override publish(events: readonly PublicEvent[]): Promise<void> {
    return events.length === 0 ? this.#handOut(events) : super.publish(events);
  }
  override async consume(group: string, handler: EventHandler): Promise<void> {
    this.#handlers.push(handler);
    await super.consume(group, handler);
  }
  readonly #handlers: EventHandler[] = [];
  async #handOut(events: readonly PublicEvent[]): Promise<void> {
    for (const handler of this.#handlers) await handler(events);
  }
}

/** Says that it has closed, and goes on for a while. */
export class ClosesLater extends WrappedEventBus {
  override async close(): Promise<void> {
    setTimeout(() => void super.close(), 100);
  }
}
