/** Takes documents away for good. */
export interface DocumentRemoval {
  /** Removes the sealed content, whether or not its key still exists; one that is not there is fine. Durable when it resolves. */
  remove(stream: string, sha256: string): Promise<void>;
}
