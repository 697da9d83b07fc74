import type { LoanEvent } from '../../domain/loan/events.ts';
import type { EventStore, RecordedEvent } from '../ports/event-store.ts';

export type DecodeLoanEvent = (recorded: RecordedEvent) => LoanEvent | undefined;

/** The fund of an operation; an operation never changes its fund. */
export interface FundLookup {
  /** @throws Error when the stream holds no received operation */
  fundOf(stream: string): Promise<string>;
  /** Saves the look-up for an operation whose first event has just gone by. */
  learn(stream: string, fundId: string): void;
}

/** Recently used funds; an entry may vanish at any time. */
export interface FundCache {
  get(stream: string): string | undefined;
  set(stream: string, fundId: string): unknown;
}

/** Reads the operation's reception once, then remembers; only reservations of its code can stand before it. */
export class StreamFundLookup implements FundLookup {
  readonly #events: EventStore;
  readonly #decode: DecodeLoanEvent;
  readonly #cache: FundCache;

  constructor(events: EventStore, decode: DecodeLoanEvent, cache: FundCache) {
    this.#events = events;
    this.#decode = decode;
    this.#cache = cache;
  }

  learn(stream: string, fundId: string): void {
    this.#cache.set(stream, fundId);
  }

  async fundOf(stream: string): Promise<string> {
    const known = this.#cache.get(stream);
    if (known !== undefined) return known;
    for (const recorded of (await this.#events.read(stream)).events) {
      const event = this.#decode(recorded);
      if (event?.type !== 'LoanReceived') continue;
      this.learn(stream, event.fundId);
      return event.fundId;
    }
    throw new Error(`stream ${stream} holds no received operation`);
  }
}
