import { ConcurrencyError, KeyAlreadyClaimedError } from '../ports/event-store.ts';
import type { EventStore } from '../ports/event-store.ts';
import { MoveFailedError } from '../ports/moving.ts';
import type { EventToMove, LogToMove, MoveLedger } from '../ports/moving.ts';
import { retryUntilAvailable } from '../support/retry.ts';
import { appendsOf, wavesOf } from './pending-appends.ts';
import type { PendingAppend } from './pending-appends.ts';

interface Dependencies {
  readonly log: LogToMove;
  readonly store: Pick<EventStore, 'append'>;
  readonly ledger: Pick<MoveLedger, 'eventsThrough' | 'noteEvents'>;
  readonly pause: (ms: number) => Promise<void>;
}

const PAGE = 250;
const IN_FLIGHT = 64;
/** After a kill so many events at most are appended again, which changes nothing. */
const NOTE_EVERY = 1_000;

/**
 * Appends every event again: same ids, revisions, texts and keys. Events of an operation keep their order, and so does everything
 * around a renegotiation and around the places where followers go on; between operations it may change by a few dozen appends,
 * which no reader of the log relies on.
 */
export class CopyEvents {
  readonly #deps: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#deps = dependencies;
  }

  /**
   * @param cuts places of the old log where followers go on
   * @param moved called with a number of events as soon as they are stored
   */
  async execute(cuts: ReadonlySet<number>, moved: (events: number) => void): Promise<void> {
    const { ledger, pause } = this.#deps;
    let noted = await ledger.eventsThrough();
    let [through, unnoted] = [noted, 0];
    for (const wave of wavesOf(appendsOf(this.#eventsAfter(noted), cuts), cuts, IN_FLIGHT)) {
      await settled(wave.map((append) => this.#append(append)));
      const count = wave.reduce((sum, { events }) => sum + events.length, 0);
      through = Math.max(through, ...wave.map((append) => append.through));
      unnoted += count;
      moved(count);
      if (unnoted < NOTE_EVERY) continue;
      noted = through;
      unnoted = 0;
      await retryUntilAvailable(() => ledger.noteEvents(noted), pause);
    }
    if (through > noted) await retryUntilAvailable(() => ledger.noteEvents(through), pause);
  }

  *#eventsAfter(position: number): Generator<EventToMove> {
    for (let after = position; ;) {
      const page = this.#deps.log.page(after, PAGE);
      yield* page;
      const last = page.at(-1);
      if (!last) return;
      after = last.at;
    }
  }

  async #append({ stream, expected, events, claim }: PendingAppend): Promise<void> {
    const { store, pause } = this.#deps;
    try {
      await retryUntilAvailable(() => store.append(stream, expected, events, claim), pause);
    } catch (error) {
      if (!(error instanceof ConcurrencyError) && !(error instanceof KeyAlreadyClaimedError)) throw error;
      throw new MoveFailedError(`the event store holds something else already: ${error.message}`, {
        cause: error,
      });
    }
  }
}

/** Waits for all of them before it fails with the first failure: nothing is left under way. */
const settled = async (work: readonly Promise<void>[]): Promise<void> => {
  for (const result of await Promise.allSettled(work)) if (result.status === 'rejected') throw result.reason;
};
