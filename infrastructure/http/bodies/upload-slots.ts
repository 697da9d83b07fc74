import { ClientGoneError, HttpProblem } from '../errors/http-problem.ts';

/** How much may be under way at once. */
interface Capacity {
  readonly uploads: number;
  /** On disk, in files of requests under way. */
  readonly bytes: number;
}

export interface UploadBounds {
  readonly application: Capacity;
  readonly process: Capacity;
  /** Requests of an application that may wait; they are not read meanwhile. */
  readonly waiting: number;
  readonly waitMs: number;
  /** What an upload of unknown length counts for until more than this has come. */
  readonly smallBytes: number;
  /** The most that one upload can become. */
  readonly largestBytes: number;
}

const MEBIBYTE = 1_048_576;
const RETRY_AFTER_S = 5;

export const UPLOAD_BOUNDS: UploadBounds = {
  application: { uploads: 64, bytes: 512 * MEBIBYTE },
  process: { uploads: 512, bytes: 4096 * MEBIBYTE },
  waiting: 128,
  waitMs: 10_000,
  smallBytes: 4 * MEBIBYTE,
  largestBytes: 50 * MEBIBYTE,
};

/** The place of one upload among those under way. */
export interface UploadSlot {
  /** Resolves when this many bytes in all are covered. @throws HttpProblem `rate_limited` @throws ClientGoneError */
  cover(bytes: number): Promise<void>;
  /** Frees the place for the next upload that waits. Idempotent. */
  leave(): void;
}

/** Places and bytes that an upload holds or asks for. */
interface Share {
  uploads: number;
  bytes: number;
}

interface Waiter {
  readonly wanted: Readonly<Share>;
  readonly enter: () => void;
}

/** The uploads of one application. */
interface Party extends Share {
  readonly application: string;
  readonly waiters: Waiter[];
}

/**
 * Bounds the uploads under way, for each application and for the process. An upload that does not fit waits in the queue of its
 * application, and a place that gets free goes to the application that holds the fewest. The fuller the process is, the fewer
 * places one application may hold, so that another application finds room.
 */
export class UploadSlots {
  readonly #bounds: UploadBounds;
  readonly #parties = new Map<string, Party>();
  readonly #all: Share = { uploads: 0, bytes: 0 };

  constructor(bounds: UploadBounds = UPLOAD_BOUNDS) {
    this.#bounds = bounds;
  }

  /**
   * @param bytes the length of the upload, when it is declared
   * @param signal of a client that has gone
   * @throws HttpProblem `rate_limited` when there was no place in time @throws ClientGoneError
   */
  async enter(application: string, bytes: number | undefined, signal: AbortSignal): Promise<UploadSlot> {
    const { smallBytes, largestBytes } = this.#bounds;
    const party = this.#parties.get(application) ?? { application, waiters: [], uploads: 0, bytes: 0 };
    this.#parties.set(application, party);
    const held: Share = { uploads: 0, bytes: 0 };
    const left = new AbortController();
    const either = AbortSignal.any([signal, left.signal]);
    const take = (wanted: Share): Promise<void> => this.#take(party, { held, wanted, signal: either });
    await take({ uploads: 1, bytes: bytes ?? smallBytes });
    return {
      cover: async (needed) => {
        if (needed > held.bytes) await take({ uploads: 0, bytes: largestBytes - held.bytes });
      },
      leave: () => {
        if (left.signal.aborted) return;
        left.abort();
        this.#move(party, held, { uploads: -held.uploads, bytes: -held.bytes });
        this.#admit(party);
      },
    };
  }

  async #take(
    party: Party,
    { held, wanted, signal }: { held: Share; wanted: Share; signal: AbortSignal },
  ): Promise<void> {
    const enter = (): void => this.#move(party, held, wanted);
    if (!signal.aborted && party.waiters.length === 0 && this.#fits(party, wanted)) return enter();
    const isNew = wanted.uploads > 0;
    if (isNew && party.waiters.length >= this.#bounds.waiting) throw refused();
    try {
      await this.#turn(party, { wanted, enter }, signal);
    } finally {
      this.#admit(party);
    }
  }

  #turn(party: Party, { wanted, enter }: Waiter, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = (settle: () => void): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', onGone);
        party.waiters.splice(party.waiters.indexOf(waiter), 1);
        settle();
      };
      const onGone = (): void => end(() => reject(gone()));
      const timer = setTimeout(() => end(() => reject(refused())), this.#bounds.waitMs);
      const waiter: Waiter = {
        wanted,
        enter: () => end(() => [enter(), resolve()]),
      };
      // An upload under way goes before one that has not begun, because it holds disk and a connection already.
      if (wanted.uploads === 0) party.waiters.unshift(waiter);
      else party.waiters.push(waiter);
      signal.addEventListener('abort', onGone);
      if (signal.aborted) onGone();
    });
  }

  #fits(party: Party, { uploads, bytes }: Readonly<Share>): boolean {
    const { application, process } = this.#bounds;
    const free = { uploads: process.uploads - this.#all.uploads, bytes: process.bytes - this.#all.bytes };
    if (uploads > free.uploads || bytes > free.bytes) return false;
    if (party.uploads === 0) return true;
    const isPlaceFree = party.uploads + uploads <= Math.min(application.uploads, free.uploads);
    return (uploads === 0 || isPlaceFree) && party.bytes + bytes <= Math.min(application.bytes, free.bytes);
  }

  #move(party: Party, held: Share, { uploads, bytes }: Readonly<Share>): void {
    for (const share of [party, held, this.#all]) {
      share.uploads += uploads;
      share.bytes += bytes;
    }
  }

  /** Admits the uploads that fit now, one application after the other, and forgets `last` when it is idle. */
  #admit(last: Party): void {
    if (last.uploads === 0 && last.waiters.length === 0) this.#parties.delete(last.application);
    for (;;) {
      const next = [...this.#parties.values()]
        .filter((party) => party.waiters[0] !== undefined && this.#fits(party, party.waiters[0].wanted))
        .sort((a, b) => a.uploads - b.uploads)[0];
      if (next === undefined) return;
      next.waiters[0]?.enter();
    }
  }
}

const gone = (): ClientGoneError => new ClientGoneError('closed while its upload waited');

const refused = (): HttpProblem =>
  new HttpProblem(
    'rate_limited',
    `Too many uploads are under way; wait ${RETRY_AFTER_S} seconds, and send fewer at once`,
    [],
    ['Retry-After', String(RETRY_AFTER_S)],
  );
