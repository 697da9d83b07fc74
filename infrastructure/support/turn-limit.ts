const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/**
 * Work that is done where it is asked for resolves without a turn of the event loop, so a loop over it would let nothing else happen.
 * A caller that passes here before such work gives way to others once the turn has lasted too long.
 */
export class TurnLimit {
  readonly #longestMs: number;
  #beganAt: number | undefined;

  constructor(longestMs = 10) {
    this.#longestMs = longestMs;
  }

  /** Undefined when there is nothing to wait for. */
  pass(): Promise<void> | undefined {
    if (this.#beganAt === undefined) {
      this.#beganAt = performance.now();
      setImmediate(() => (this.#beganAt = undefined));
      return undefined;
    }
    return performance.now() - this.#beganAt > this.#longestMs ? nextTurn() : undefined;
  }
}
