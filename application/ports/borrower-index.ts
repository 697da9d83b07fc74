/** A borrower, told only by a keyed digest, and an operation whose data belongs to that borrower. */
export interface BorrowerIndexEntry {
  /** From `borrowerDigest`; nobody without the service's key can guess whom it stands for. */
  readonly digest: string;
  /** The operation's stream. */
  readonly stream: string;
}

/** Finds a borrower's operations without storing who the borrower is. Durable when a call resolves. */
export interface BorrowerIndex {
  /** Entries that are there already change nothing. */
  add(entries: readonly BorrowerIndexEntry[]): Promise<void>;
  /** In the order of the streams' names. */
  streamsOf(digest: string): Promise<readonly string[]>;
  remove(entry: BorrowerIndexEntry): Promise<void>;
}
