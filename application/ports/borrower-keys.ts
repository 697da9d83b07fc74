/** Keys that seal an operation's borrower and documents. */
export interface BorrowerKeys {
  /**
   * Deletes the key of an operation, for good; none is fine. Durable when it resolves. Processes that used it lately may still hold
   * it in memory for at most 30 seconds.
   */
  forget(stream: string): Promise<void>;
  /** The same for a key that was made before this instant, ISO 8601 UTC; a younger one stays. */
  forgetOlder(stream: string, than: string): Promise<void>;
}
