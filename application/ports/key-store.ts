/** A wrapped text and where it lies. */
export interface WrappedText {
  readonly name: string;
  readonly wrapped: string;
}

/** A text that is wrapped anew: nothing happens unless it still reads `from`. */
export interface Rewrapped {
  readonly name: string;
  readonly from: string;
  readonly to: string;
}

/** Texts that keys wrap, so that they can be wrapped by another key. Durable when a call resolves. */
export interface WrappedTexts {
  /** In the order of names, after this one; `''` is before the first. */
  page(after: string, limit: number): Promise<readonly WrappedText[]>;
  /** Answers how many still read `from`. A text that was deleted meanwhile stays deleted. */
  rewrap(changes: readonly Rewrapped[]): Promise<number>;
}

/** Keys wrapped by the master key, in the SQL store. Durable when a call resolves. */
export interface KeyStore extends WrappedTexts {
  /** Stores unless one exists; answers the one that counts. */
  putIfAbsent(name: string, wrapped: string): Promise<string>;
  /** The same while another entry still reads so; otherwise nothing is stored or answered. */
  putIfAbsentWhile(condition: WrappedText, name: string, wrapped: string): Promise<string | undefined>;
  /** Turns a condition over: once it resolves with true, nothing that was put while it read `from` is still on its way. */
  turn(change: Rewrapped): Promise<boolean>;
  get(name: string): Promise<string | undefined>;
  delete(name: string): Promise<void>;
  list(
    prefix: string,
  ): Promise<readonly { readonly name: string; readonly wrapped: string; readonly createdAt: string }[]>;
}
