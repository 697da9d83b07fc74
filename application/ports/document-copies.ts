/** Contents that go from one operation to another; each operation seals with a key of its own. */
export interface DocumentCopies {
  /** Durable when it resolves. False when there is no such content, or it cannot be opened any more. */
  copy(from: string, to: string, sha256: string): Promise<boolean>;
}
