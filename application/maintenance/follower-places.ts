import type { StoredPlace, CheckpointStore } from '../coordination/stored-places.ts';
import type { EventSubscription, LogPlaces, LogPosition } from '../ports/event-store.ts';
import { misfit } from '../processors/log-fit.ts';
import { upToNow } from '../support/up-to-now.ts';

export interface FollowerPlace extends StoredPlace {
  readonly problem: string | undefined;
}

interface MoveRequest {
  readonly name: string;
  readonly after: string;
  readonly force: boolean;
}

export type Move =
  | {
      readonly outcome: 'moved';
      readonly before: LogPosition | 'start';
      readonly position: LogPosition | 'start';
    }
  /** Nothing was changed: no follower of this name has a place, its place fits the log, or it moved on meanwhile. */
  | { readonly outcome: 'unknown' | 'fits' | 'busy' };

/** Each is lost only where the follower stores its next place in the same moment. */
const MOST_TRIES = 100;

/** Whatever of webhooks begins behind the end of the log begins there from now on. */
type BeginWithin = (end: LogPosition | 'start') => Promise<unknown>;

/** The way out when the log is not that of the places any more. A follower that runs reads its place again. */
export class FollowerPlaces {
  readonly #places: CheckpointStore;
  readonly #log: EventSubscription & LogPlaces;
  readonly #beginWithin: BeginWithin;

  constructor(places: CheckpointStore, log: EventSubscription & LogPlaces, beginWithin: BeginWithin) {
    this.#places = places;
    this.#log = log;
    this.#beginWithin = beginWithin;
  }

  async *list(): AsyncGenerator<FollowerPlace> {
    for (const place of await this.#places.list())
      yield { ...place, problem: await misfit(this.#log, place.position) };
  }

  async move({ name, after, force }: MoveRequest): Promise<Move> {
    const before = await this.#places.load(name);
    if (before === 'start') return { outcome: 'unknown' };
    if (!force && (await misfit(this.#log, before)) === undefined) return { outcome: 'fits' };
    const position = after === 'start' ? 'start' : await this.#lastUpTo(after);
    // What is appended to a log that became shorter would else lie before subscriptions that were made before.
    await this.#beginWithin(await this.#log.end());
    let from: LogPosition | 'start' = before;
    for (let tries = force ? MOST_TRIES : 1; tries > 0; tries--) {
      if (await this.#places.move(name, from, position)) return { outcome: 'moved', before: from, position };
      // One that runs has moved on while the log was read: away from there will do as well.
      from = await this.#places.load(name);
    }
    return { outcome: 'busy' };
  }

  async #lastUpTo(instant: string): Promise<LogPosition | 'start'> {
    let position: LogPosition | 'start' = 'start';
    for await (const message of upToNow(this.#log, { from: 'start' })) {
      const events = message.kind === 'events' ? message.events : [];
      const later = events.findIndex(({ metadata }) => metadata.recordedAt > instant);
      if (later >= 0) return events[later - 1]?.position ?? position;
      position = message.checkpoint;
    }
    return position;
  }
}
