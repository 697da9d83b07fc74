import type { SealedSource } from '../sealed-content.ts';
import type { PlacedContent, SealedPlace } from '../sealed-document-store.ts';
import type { S3Bucket } from './s3-bucket.ts';

export const KEY_ID = 'x-amz-meta-key-id';

const AT_ONCE = 1_048_576;

/** One request reads ahead for several pieces; a small document comes with one request. */
const readAhead = (source: SealedSource): SealedSource => {
  const { size } = source;
  let from = 0;
  let held: Buffer = Buffer.alloc(0);
  return {
    size,
    read: async (start, end) => {
      if (start < from || end > from + held.length) {
        const until = Math.min(size, Math.max(end, start + AT_ONCE));
        [from, held] = [start, await source.read(start, until)];
      }
      return held.subarray(start - from, end - from);
    },
  };
};

export const objectOf = (name: string): string => `documents/${name}`;

/** Objects of a bucket, under the names and with the bytes that files would have. */
export class BucketPlace implements SealedPlace {
  readonly #bucket: S3Bucket;

  constructor(bucket: S3Bucket) {
    this.#bucket = bucket;
  }

  /** @throws Error when the bucket does not exist or refuses the credentials */
  async start(): Promise<void> {
    await this.#bucket.check();
  }

  async put(name: string, keyId: string, sealed: () => AsyncIterable<Buffer>): Promise<void> {
    const object = objectOf(name);
    if ((await this.#bucket.head(object))?.get(KEY_ID) === keyId) return;
    // Held in memory as a whole, because the request signature covers length and digest. Documents have at most 10 MiB.
    await this.#bucket.put(object, Buffer.concat(await Array.fromAsync(sealed())), {
      'content-type': 'application/octet-stream',
      [KEY_ID]: keyId,
    });
  }

  /** Read in ranges, so that a slow client does not hold a connection to the bucket open. */
  async open(name: string, keyId: string): Promise<PlacedContent | undefined> {
    const object = objectOf(name);
    const head = await this.#bucket.head(object);
    if (head?.get(KEY_ID) !== keyId) return undefined;
    const size = Number(head.get('content-length'));
    const read = async (start: number, end: number): Promise<Buffer> =>
      (await this.#bucket.get(object, { start, end })) ?? Buffer.alloc(0);
    return readAhead({ size, read });
  }

  async remove(name: string): Promise<void> {
    await this.#bucket.remove(objectOf(name));
  }
}
