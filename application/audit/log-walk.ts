import { DamagedEventError } from '../ports/event-store.ts';
import type {
  EventSubscription,
  LogPosition,
  RecordedEvent,
  SubscriptionMessage,
} from '../ports/event-store.ts';
import type { Report } from './difference.ts';

interface Dependencies {
  readonly subscription: EventSubscription;
  /** Resolves after so many milliseconds, or at once when the signal ends. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** An adapter that cannot read repeats itself for ever; by then it is not going to. */
const SILENCE_MS = 30_000;
const BATCH = 1_000;

/**
 * The log from a place to its end as it is then. An event that cannot be read is reported and passed by; a log that does not answer
 * any more is reported and left.
 */
export class LogWalk {
  readonly #deps: Dependencies;
  #position: LogPosition | 'start' = 'start';

  constructor(dependencies: Dependencies) {
    this.#deps = dependencies;
  }

  /** Goes on from where it ended last time. */
  async *toTheEnd(report: Report): AsyncGenerator<readonly RecordedEvent[]> {
    let batchSize = BATCH;
    for (;;) {
      try {
        yield* this.#read(batchSize, report);
        return;
      } catch (error) {
        if (!(error instanceof DamagedEventError)) throw error;
        // One by one up to the damaged event, so that those before it in its batch are not lost.
        if (batchSize === 1) {
          this.#pass(error, report);
          batchSize = BATCH;
        } else batchSize = 1;
      }
    }
  }

  async *#read(batchSize: number, report: Report): AsyncGenerator<readonly RecordedEvent[]> {
    const stopping = new AbortController();
    const { signal } = stopping;
    const options = { from: this.#position, batchSize, signal };
    const messages = this.#deps.subscription.subscribe(options)[Symbol.asyncIterator]();
    try {
      for (;;) {
        const next = await this.#patiently(messages.next(), signal);
        if (next === 'silence') {
          const place = { stream: '', revision: null, what: `after position ${this.#position}` };
          report({ kind: 'log', ...place, expected: 'events, or the end', found: 'no answer' });
          return;
        }
        if (next.done || next.value.kind === 'caught_up') return;
        this.#position = next.value.checkpoint;
        if (next.value.kind === 'events') yield next.value.events;
      }
    } finally {
      stopping.abort();
    }
  }

  async #patiently(
    next: Promise<IteratorResult<SubscriptionMessage>>,
    signal: AbortSignal,
  ): Promise<IteratorResult<SubscriptionMessage> | 'silence'> {
    const enough = new AbortController();
    const silence = this.#deps
      .sleep(SILENCE_MS, AbortSignal.any([signal, enough.signal]))
      .then(() => 'silence' as const);
    try {
      return await Promise.race([next, silence]);
    } finally {
      enough.abort();
    }
  }

  #pass({ stream, revision, position, message }: DamagedEventError, report: Report): void {
    const place = { stream, revision: Number(revision), what: 'event' };
    report({ kind: 'event', ...place, expected: 'an event', found: message });
    this.#position = position;
  }
}
