/** An operation with an event that cannot be published: from that event on, its events wait. */
export interface HeldBack {
  readonly stream: string;
  /** Of the first event that waits. */
  readonly revision: bigint;
  readonly eventType: string;
  readonly reason: string;
}

/** What the relay holds back. Durable when a call resolves. */
export interface RelayQuarantine {
  /** In the order of their names. */
  list(): Promise<readonly (HeldBack & { readonly released: boolean })[]>;
  /** Keeps what is there for the operation, but for the reason, and takes a release back. */
  put(entry: HeldBack): Promise<void>;
  /** The relay tries it again. False when nothing is held back of this operation. */
  release(stream: string): Promise<boolean>;
  /** Everything that waited is on the bus. */
  remove(stream: string): Promise<void>;
}
