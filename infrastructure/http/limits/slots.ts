import { ClientGoneError } from '../errors/http-problem.ts';

interface Capacity {
  readonly places: number;
  /** Bytes of uploads; shares of the process that reads take. */
  readonly weight: number;
}

export interface SlotBounds {
  readonly application: Capacity;
  readonly process: Capacity;
  readonly waiting: number;
  readonly waitMs: number;
  /** What a request of unknown weight counts for until it has to cover more. */
  readonly leastWeight: number;
  /** The most that one request can come to weigh. */
  readonly mostWeight: number;
  /** For requests that found no place in time, or for which too many wait. */
  readonly refused: () => Error;
}

export interface Slot {
  /** Resolves when this weight is covered. @throws HttpProblem as the bounds say @throws ClientGoneError */
  cover(weight: number): Promise<void>;
  /** Frees the place for the next request that waits. Idempotent. */
  leave(this: void): void;
}

interface Share {
  places: number;
  weight: number;
}

interface Waiter {
  readonly wanted: Readonly<Share>;
  readonly enter: () => void;
  readonly refuse: () => void;
}

interface Party extends Share {
  readonly application: string;
  readonly waiters: Waiter[];
}

/**
 * Bounds the requests of one kind under way, for each application and for the process. One that does not fit waits in the queue of
 * its application; a place that gets free goes to the application that holds the fewest, and of several to the one that was not
 * served for longest. The fuller the process is, the fewer places one application may hold, so that another application finds room.
 */
export class Slots {
  readonly #bounds: SlotBounds;
  /** The one that was served last is the last. */
  readonly #parties = new Map<string, Party>();
  readonly #all: Share = { places: 0, weight: 0 };
  #ends = false;

  constructor(bounds: SlotBounds) {
    this.#bounds = bounds;
  }

  /** From now on none waits for a place; who does is refused at once, instead of being cut off by the end of the process. */
  end(): void {
    this.#ends = true;
    for (const { waiters } of this.#parties.values())
      for (const { wanted, refuse } of [...waiters]) if (wanted.places > 0) refuse();
  }

  /**
   * @param weight when it is known
   * @param gone answers the signal of a client that has gone; asked where the request has to wait
   * @throws HttpProblem when there was no place in time @throws ClientGoneError
   */
  async enter(application: string, weight: number | undefined, gone: () => AbortSignal): Promise<Slot> {
    const { leastWeight, mostWeight } = this.#bounds;
    const party = this.#parties.get(application) ?? { application, waiters: [], places: 0, weight: 0 };
    this.#parties.set(application, party);
    const held: Share = { places: 0, weight: 0 };
    let left: AbortController | undefined;
    let isOver = false;
    await this.#take(party, { held, wanted: { places: 1, weight: weight ?? leastWeight }, gone });
    return {
      cover: async (needed) => {
        if (needed <= held.weight) return;
        if (isOver) throw goneMeanwhile();
        left = new AbortController();
        const { signal } = left;
        const either = (): AbortSignal => AbortSignal.any([gone(), signal]);
        await this.#take(party, {
          held,
          wanted: { places: 0, weight: mostWeight - held.weight },
          gone: either,
        });
      },
      leave: () => {
        if (isOver) return;
        isOver = true;
        left?.abort();
        this.#move(party, held, { places: -held.places, weight: -held.weight });
        this.#admit(party);
      },
    };
  }

  async #take(
    party: Party,
    { held, wanted, gone }: { held: Share; wanted: Share; gone: () => AbortSignal },
  ): Promise<void> {
    const enter = (): void => this.#move(party, held, wanted);
    if (party.waiters.length === 0 && this.#fits(party, wanted)) return enter();
    const isNew = wanted.places > 0;
    try {
      if (isNew && (this.#ends || party.waiters.length >= this.#bounds.waiting)) throw this.#bounds.refused();
      await this.#turn(party, { wanted, enter }, gone());
    } finally {
      this.#admit(party);
    }
  }

  #turn(party: Party, { wanted, enter }: Omit<Waiter, 'refuse'>, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = (settle: () => void): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', onGone);
        party.waiters.splice(party.waiters.indexOf(waiter), 1);
        settle();
      };
      const onGone = (): void => end(() => reject(goneMeanwhile()));
      const refuse = (): void => end(() => reject(this.#bounds.refused()));
      const timer = setTimeout(refuse, this.#bounds.waitMs);
      const waiter: Waiter = {
        wanted,
        enter: () => end(() => [enter(), resolve()]),
        refuse,
      };
      // A request under way goes before one that has not begun, because it holds disk and a connection already.
      if (wanted.places === 0) party.waiters.unshift(waiter);
      else party.waiters.push(waiter);
      signal.addEventListener('abort', onGone);
      if (signal.aborted) onGone();
    });
  }

  #fits(party: Party, { places, weight }: Readonly<Share>): boolean {
    const { application, process } = this.#bounds;
    const free = { places: process.places - this.#all.places, weight: process.weight - this.#all.weight };
    if (places > free.places || weight > free.weight) return false;
    if (party.places === 0) return true;
    const isPlaceFree = party.places + places <= Math.min(application.places, free.places);
    const isWeightFree = party.weight + weight <= Math.min(application.weight, free.weight);
    return (places === 0 || isPlaceFree) && isWeightFree;
  }

  #move(party: Party, held: Share, { places, weight }: Readonly<Share>): void {
    for (const share of [party, held, this.#all]) {
      share.places += places;
      share.weight += weight;
    }
  }

  /** Admits the requests that fit now, one application after the other, and forgets `last` when it is idle. */
  #admit(last: Party): void {
    const isIdle = last.places === 0 && last.waiters.length === 0;
    // Its application may have come again meanwhile.
    if (isIdle && this.#parties.get(last.application) === last) this.#parties.delete(last.application);
    for (;;) {
      const next = [...this.#parties.values()]
        .filter((party) => party.waiters[0] !== undefined && this.#fits(party, party.waiters[0].wanted))
        .sort((a, b) => a.places - b.places)[0];
      if (next === undefined) return;
      this.#parties.delete(next.application);
      this.#parties.set(next.application, next);
      next.waiters[0]?.enter();
    }
  }
}

const goneMeanwhile = (): ClientGoneError => new ClientGoneError('closed while it waited for its turn');
