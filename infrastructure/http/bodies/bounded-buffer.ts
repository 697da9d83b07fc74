/**
 * Gathers bytes up to a limit in one piece of memory: a thousand chunks of one byte cost a thousand bytes, not a thousand
 * buffers.
 */
export class BoundedBuffer {
  readonly #limit: number;
  #bytes: Buffer = Buffer.alloc(0);
  #size = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** False when this is more than fits; then nothing was added. */
  add(chunk: Buffer): boolean {
    const size = this.#size + chunk.length;
    if (size > this.#limit) return false;
    if (this.#size === 0) this.#bytes = chunk;
    else {
      if (size > this.#bytes.length) this.#grow(size);
      chunk.copy(this.#bytes, this.#size);
    }
    this.#size = size;
    return true;
  }

  /** What was gathered. Nothing may be added after that. */
  content(): Buffer {
    return this.#bytes.subarray(0, this.#size);
  }

  #grow(size: number): void {
    const larger = Buffer.allocUnsafeSlow(Math.min(this.#limit, Math.max(2 * size, 4096)));
    this.#bytes.copy(larger, 0, 0, this.#size);
    this.#bytes = larger;
  }
}
