import type { LRUCache } from 'lru-cache';
import { sizedCache } from '../support/sized-cache.ts';
import type { Operation } from './operation.ts';
import { liveBytes, packOperation, unpackOperation } from './packed-operation.ts';

/** Of what is kept; the rest is packed. */
const LIVE_SHARE = 0.25;
/** Of a buffer, on both sides of the heap. */
const BUFFER_BYTES = 250;

/** A few as objects, many more as texts outside the heap, where no garbage collection has to walk over them. */
export class KeptOperations {
  readonly #live: LRUCache<string, Operation>;
  readonly #packed: LRUCache<string, Buffer>;

  constructor(bytes: number) {
    this.#packed = sizedCache<Buffer>(bytes * (1 - LIVE_SHARE), (text) => BUFFER_BYTES + text.length);
    this.#live = sizedCache<Operation>(bytes * LIVE_SHARE, liveBytes, {
      dispose: (operation, stream, reason) => {
        if (reason === 'evict') this.#pack(stream, operation);
      },
    });
  }

  get(stream: string): Operation | undefined {
    const live = this.#live.get(stream);
    if (live) return live;
    const packed = this.#packed.get(stream);
    if (!packed) return undefined;
    const operation = unpackOperation(packed.toString());
    this.set(stream, operation);
    return operation;
  }

  set(stream: string, operation: Operation): void {
    this.#packed.delete(stream);
    this.#live.set(stream, operation);
  }

  delete(stream: string): void {
    this.#live.delete(stream);
    this.#packed.delete(stream);
  }

  #pack(stream: string, operation: Operation): void {
    const text = packOperation(operation);
    // A buffer of its own: one cut out of a larger would keep all of that.
    const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
    bytes.write(text);
    this.#packed.set(stream, bytes);
  }
}
