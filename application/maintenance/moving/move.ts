import type { EventStore, EventSubscription, KeyClaim, LogPosition } from '../../ports/event-store.ts';
import { MoveFailedError } from './log-to-move.ts';
import type { LogToMove, PlacesToMove } from './log-to-move.ts';
import { compareRecords, copyRecords, countRecords } from './records-to-move.ts';
import type { RecordsToMove } from './records-to-move.ts';
import { retryUntilAvailable } from '../../support/retry.ts';
import { copyEvents } from './copy-events.ts';
import { verifyEvents } from './verify-events.ts';

interface DocumentsToMove {
  count(): Promise<number>;
  copy(moved: (documents: number) => void): Promise<void>;
}

interface Dependencies {
  readonly log: LogToMove;
  readonly records: RecordsToMove;
  readonly finish: (places: PlacesToMove) => Promise<void>;
  readonly store: (EventStore & EventSubscription) | undefined;
  readonly documents: DocumentsToMove | undefined;
  readonly pause: (ms: number) => Promise<void>;
}

interface Moved {
  readonly events: number;
  readonly streams: number;
  readonly claims: number;
  readonly records: number;
  readonly documents: number;
}

type Done = (steps: number) => void;

const CLAIMS_IN_FLIGHT = 32;

/** Every step can be repeated, so a process that was killed is started again; all is compared before it is in use. */
export class Move {
  readonly #deps: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#deps = dependencies;
  }

  async steps(): Promise<number> {
    const { store, log, records, documents } = this.#deps;
    const { events, claims } = log.counts();
    return 2 * countRecords(records) + (store ? 2 * events + claims : 0) + ((await documents?.count()) ?? 0);
  }

  /** @throws MoveFailedError @throws StoreUnavailableError an engine stays away: start it again later */
  async execute(done: Done): Promise<Moved> {
    const { store, records, log, finish, documents, pause } = this.#deps;
    await copyRecords(records, pause, done);
    const places = store ? await this.#moveStreams(store, done) : records.source.places();
    await documents?.copy(done);
    await compareRecords(records, pause, done);
    await retryUntilAvailable(() => finish(places), pause);
    const { events, streams, claims } = store ? log.counts() : { events: 0, streams: 0, claims: 0 };
    return {
      events,
      streams,
      claims,
      records: countRecords(records),
      documents: (await documents?.count()) ?? 0,
    };
  }

  async #moveStreams(store: EventStore & EventSubscription, done: Done): Promise<PlacesToMove> {
    const { log, records, pause } = this.#deps;
    const { checkpoints, subscriptions } = records.source.places();
    const old = [...checkpoints.map(({ position }) => position), ...subscriptions.map(({ place }) => place)];
    const placeOf = (position: LogPosition | 'start'): number =>
      position === 'start' ? 0 : log.lastAt(position);
    const cuts = new Set(old.map(placeOf).filter((at) => at > 0));
    await copyEvents({ log, store, pause }, cuts, done);
    const positions = await verifyEvents({ log, subscription: store }, cuts, done);
    for (const page of log.claims()) {
      for (let at = 0; at < page.length; at += CLAIMS_IN_FLIGHT) {
        const some = page.slice(at, at + CLAIMS_IN_FLIGHT);
        await Promise.all(some.map((held) => this.#verifyClaim(store, held.claim, held.stream)));
        done(some.length);
      }
    }
    const moved = (position: LogPosition | 'start') => positions.get(placeOf(position));
    return {
      checkpoints: checkpoints.flatMap(({ name, position: before }) => {
        const position = moved(before);
        return position === undefined ? [] : [{ name, position }];
      }),
      subscriptions: subscriptions.map((one) => ({ ...one, place: moved(one.place) ?? 'start' })),
    };
  }

  async #verifyClaim(store: EventStore, claim: KeyClaim, stream: string): Promise<void> {
    const holder = await retryUntilAvailable(() => store.findClaim(claim), this.#deps.pause);
    if (holder === stream) return;
    throw new MoveFailedError(
      `the key ${claim.key} of ${claim.endpoint} should be held by ${stream}, and ${holder === undefined ? 'is not held' : `is held by ${holder}`}`,
    );
  }
}
