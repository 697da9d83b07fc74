import { OutcomeUnknownError, StoreUnavailableError } from '../../application/ports/event-store.ts';
import type {
  AppendResult,
  EventStore,
  KeyClaim,
  StreamRevision,
} from '../../application/ports/event-store.ts';

type Append = Parameters<EventStore['append']>;

/** A store of which every call passes through one place. */
export abstract class GuardedStore implements EventStore {
  readonly inner: EventStore;

  constructor(inner: EventStore) {
    this.inner = inner;
  }

  protected abstract pass<T>(call: () => Promise<T>): Promise<T>;

  read(stream: string, from?: bigint): ReturnType<EventStore['read']> {
    return this.pass(() => this.inner.read(stream, from));
  }

  head(stream: string): Promise<StreamRevision> {
    return this.pass(() => this.inner.head(stream));
  }

  findClaim(claim: KeyClaim): Promise<string | undefined> {
    return this.pass(() => this.inner.findClaim(claim));
  }

  append(...append: Append): Promise<AppendResult> {
    return this.pass(() => this.inner.append(...append));
  }
}

/** What becomes of an append: carried out, lost on the way, or carried out with its answer lost. */
export type Fate = 'works' | 'refused' | 'lost' | 'answer_lost';

/** Delegates to a real store and lets each append meet the next fate of a list; the list's end works. */
export class FaultyEventStore extends GuardedStore {
  readonly #fates: Fate[];
  appends = 0;
  reads = 0;

  constructor(inner: EventStore, fates: readonly Fate[] = []) {
    super(inner);
    this.#fates = [...fates];
  }

  protected pass<T>(call: () => Promise<T>): Promise<T> {
    this.reads++;
    return call();
  }

  override async append(...append: Append): Promise<AppendResult> {
    this.appends++;
    const fate = this.#fates.shift() ?? 'works';
    if (fate === 'refused') throw new StoreUnavailableError('injected');
    if (fate === 'lost') throw new OutcomeUnknownError('injected');
    const result = await this.inner.append(...append);
    if (fate === 'answer_lost') throw new OutcomeUnknownError('injected');
    return result;
  }
}

/** The store as a program finds it that is older than the events of one stream. */
export const unreadable = (inner: EventStore, newer: string): EventStore => {
  const store = new FaultyEventStore(inner);
  store.read = async (stream, from) => {
    const found = await inner.read(stream, from);
    if (stream !== newer) return found;
    return { ...found, events: found.events.map((event) => ({ ...event, type: 'loan.of_later.v1' })) };
  };
  return store;
};

/** Where a process dies: on its way to an append, or with the append carried out and its answer never seen. */
export type Death = 'before' | 'after';

/** The store as a process sees it that dies at its n-th append: from then on nothing it asked for ever comes back. */
export class MortalEventStore extends GuardedStore {
  readonly #deadly: number;
  readonly #death: Death;
  #appends = 0;
  #dead = false;
  #die: () => void = () => undefined;
  /** Resolves when the process is dead. */
  readonly died = new Promise<void>((resolve) => {
    this.#die = resolve;
  });

  constructor(inner: EventStore, deadly: number, death: Death) {
    super(inner);
    this.#deadly = deadly;
    this.#death = death;
  }

  override append(...append: Append): Promise<AppendResult> {
    return this.pass(async () => {
      this.#appends++;
      if (this.#appends !== this.#deadly) return this.inner.append(...append);
      this.#dead = true;
      // The dead hear of no refusal either.
      if (this.#death === 'after') await this.inner.append(...append).catch(() => undefined);
      this.#die();
      return never();
    });
  }

  protected async pass<T>(call: () => Promise<T>): Promise<T> {
    return this.#dead ? never() : call();
  }
}

const never = <T>(): Promise<T> => new Promise<T>(() => undefined);
