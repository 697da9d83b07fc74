/** Many may be inside at once, or one alone. */
export class Gate {
  #inside = 0;
  #alone: Promise<void> | undefined;
  #waiting: (() => void) | undefined;

  async inside<T>(work: () => Promise<T>): Promise<T> {
    while (this.#alone) await this.#alone;
    this.#inside += 1;
    try {
      return await work();
    } finally {
      this.#inside -= 1;
      if (this.#inside === 0) this.#waiting?.();
    }
  }

  async alone(work: () => Promise<void>): Promise<void> {
    while (this.#alone) await this.#alone;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#alone = promise;
    try {
      if (this.#inside > 0) await new Promise<void>((empty) => (this.#waiting = empty));
      await work();
    } finally {
      this.#waiting = undefined;
      this.#alone = undefined;
      resolve();
    }
  }
}
