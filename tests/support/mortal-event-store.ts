import type {
  AppendResult,
  EventStore,
  EventToAppend,
  KeyClaim,
  StreamRevision,
} from '../../application/ports/event-store.ts';

/** Where a process dies: on its way to an append, or with the append carried out and its answer never seen. */
export type Death = 'before' | 'after';

/** The store as a process sees it that dies at its n-th append: from then on nothing it asked for ever comes back. */
export class MortalEventStore implements EventStore {
  readonly #inner: EventStore;
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
    this.#inner = inner;
    this.#deadly = deadly;
    this.#death = death;
  }

  read(stream: string, from?: bigint): ReturnType<EventStore['read']> {
    return this.#alive(() => this.#inner.read(stream, from));
  }

  head(stream: string): Promise<StreamRevision> {
    return this.#alive(() => this.#inner.head(stream));
  }

  findClaim(claim: KeyClaim): Promise<string | undefined> {
    return this.#alive(() => this.#inner.findClaim(claim));
  }

  append(
    stream: string,
    expected: StreamRevision,
    events: readonly EventToAppend[],
    claim?: KeyClaim,
  ): Promise<AppendResult> {
    return this.#alive(async () => {
      this.#appends++;
      if (this.#appends !== this.#deadly) return this.#inner.append(stream, expected, events, claim);
      this.#dead = true;
      if (this.#death === 'after') await this.#inner.append(stream, expected, events, claim);
      this.#die();
      return never();
    });
  }

  async #alive<T>(call: () => Promise<T>): Promise<T> {
    return this.#dead ? never() : call();
  }
}

const never = <T>(): Promise<T> => new Promise<T>(() => undefined);
