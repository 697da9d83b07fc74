const CHUNK = 1 << 24;

/** Pieces of bytes in the order in which they came, in a few large buffers: an object for each would take more room than the bytes. */
export class ByteStore {
  readonly #chunks: Buffer[] = [];
  /** Of each piece: its chunk, and where in it the piece begins and ends. */
  readonly #chunk: number[] = [];
  readonly #from: number[] = [];
  readonly #to: number[] = [];
  #used = 0;

  add(bytes: Buffer): void {
    let chunk = this.#chunks.at(-1);
    if (!chunk || this.#used + bytes.length > chunk.length) {
      chunk = Buffer.allocUnsafeSlow(Math.max(CHUNK, bytes.length));
      this.#chunks.push(chunk);
      this.#used = 0;
    }
    this.#chunk.push(this.#chunks.length - 1);
    this.#from.push(this.#used);
    this.#used += bytes.copy(chunk, this.#used);
    this.#to.push(this.#used);
  }

  at(index: number): Buffer {
    return this.#chunks[this.#chunk[index]!]!.subarray(this.#from[index], this.#to[index]);
  }
}
