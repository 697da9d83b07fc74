import { createHash } from 'node:crypto';
import type {
  DocumentStore,
  ReceivedFile,
  StoredContent,
} from '../../../application/ports/document-store.ts';
import { contentLength, openSealed, seal, sealBytes, wholeOf } from '../sealed-content.ts';
import type { ContentIdentity, DocumentKey, DocumentKeys, SealedSource } from '../sealed-content.ts';
import type { S3Bucket } from './s3-bucket.ts';

const SHA256 = /^[0-9a-f]{64}$/;
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

const nameOf = (stream: string, sha256: string): string =>
  `documents/${createHash('sha256').update(stream, 'utf8').digest('hex')}/${sha256}`;

/** Stores documents under the names and as the sealed bytes that files would have; the bucket never sees a plain content. */
export class SealedS3DocumentStore implements DocumentStore {
  readonly #bucket: S3Bucket;
  readonly #keys: DocumentKeys;

  constructor(bucket: S3Bucket, keys: DocumentKeys) {
    this.#bucket = bucket;
    this.#keys = keys;
  }

  /** @throws Error when the bucket does not exist or refuses the credentials */
  async start(): Promise<void> {
    await this.#bucket.check();
  }

  async put(stream: string, file: ReceivedFile): Promise<void> {
    const { sha256 } = file;
    if (!SHA256.test(sha256)) throw new TypeError('a document is addressed by a hexadecimal SHA-256');
    await this.#put({ stream, sha256 }, (key) => seal(file.read(), key, { stream, sha256 }));
  }

  async copy(from: string, to: string, sha256: string): Promise<boolean> {
    const content = await this.get(from, sha256);
    if (content === undefined) return false;
    const identity = { stream: to, sha256 };
    await this.#put(identity, (key) => sealBytes(content, key, identity));
    return true;
  }

  async get(stream: string, sha256: string): Promise<Uint8Array | undefined> {
    return wholeOf(await this.open(stream, sha256));
  }

  /** Read in ranges, so that a slow client does not hold a connection to the bucket open. */
  async open(stream: string, sha256: string): Promise<StoredContent | undefined> {
    const key = SHA256.test(sha256) ? await this.#keys.find(stream) : undefined;
    if (key === undefined) return undefined;
    const name = nameOf(stream, sha256);
    const head = await this.#bucket.head(name);
    if (head?.get(KEY_ID) !== key.id) return undefined;
    const size = Number(head.get('content-length'));
    const read = async (start: number, end: number): Promise<Buffer> =>
      (await this.#bucket.get(name, { start, end })) ?? Buffer.alloc(0);
    return {
      size: contentLength(size),
      pieces: openSealed(readAhead({ size, read }), key, { stream, sha256 }),
    };
  }

  async remove(stream: string, sha256: string): Promise<void> {
    if (SHA256.test(sha256)) await this.#bucket.remove(nameOf(stream, sha256));
  }

  async #put(
    { stream, sha256 }: ContentIdentity,
    sealed: (key: DocumentKey) => AsyncIterable<Buffer>,
  ): Promise<void> {
    const key = await this.#keys.key(stream);
    const name = nameOf(stream, sha256);
    if ((await this.#bucket.head(name))?.get(KEY_ID) === key.id) return;
    // Held in memory as a whole, because the request signature covers length and digest. Documents have at most 10 MiB.
    const pieces: Buffer[] = [];
    for await (const piece of sealed(key)) pieces.push(piece);
    await this.#bucket.put(name, Buffer.concat(pieces), {
      'content-type': 'application/octet-stream',
      [KEY_ID]: key.id,
    });
  }
}
