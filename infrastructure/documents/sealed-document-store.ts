import { createHash } from 'node:crypto';
import { NoOperationKeyError } from '../../application/ports/document-store.ts';
import type { DocumentStore, ReceivedFile, StoredContent } from '../../application/ports/document-store.ts';
import { contentLength, openSealed, seal } from './sealed-content.ts';
import type { ContentIdentity, DocumentKey, DocumentKeys, SealedSource } from './sealed-content.ts';

const SHA256 = /^[0-9a-f]{64}$/;

/** What lies in a place, until it is closed. */
export interface PlacedContent extends SealedSource {
  close?(): Promise<void>;
}

/** Where sealed contents lie, under names of two digests with `/` between them. */
export interface SealedPlace {
  /** Once, before anything else. @throws Error when the place cannot be used */
  start(): Promise<void>;
  /**
   * Stores what `sealed` gives, unless something sealed with this key lies there. Durable when it resolves, also then; a name never
   * stands for a part of a content.
   */
  put(name: string, keyId: string, sealed: () => AsyncIterable<Buffer>): Promise<void>;
  /** Undefined unless something sealed with this key lies there. */
  open(name: string, keyId: string): Promise<PlacedContent | undefined>;
  /** Durable when it resolves; what is not there is fine. */
  remove(name: string): Promise<void>;
}

const nameOf = ({ stream, sha256 }: ContentIdentity): string =>
  `${createHash('sha256').update(stream, 'utf8').digest('hex')}/${sha256}`;

/** Closes what is read after the last piece, and also when reading never begins. */
const closing = (
  pieces: AsyncGenerator<Buffer>,
  close: () => Promise<void>,
): AsyncIterableIterator<Buffer> => ({
  [Symbol.asyncIterator]() {
    return this;
  },
  async next() {
    try {
      const step = await pieces.next();
      if (step.done) await close();
      return step;
    } catch (error) {
      await close();
      throw error;
    }
  },
  async return() {
    await close();
    return { done: true, value: undefined };
  },
});

/** Seals documents on their way to a place; the place never sees a plain content. */
export class SealedDocumentStore implements DocumentStore {
  readonly #place: SealedPlace;
  readonly #keys: DocumentKeys;

  constructor(place: SealedPlace, keys: DocumentKeys) {
    this.#place = place;
    this.#keys = keys;
  }

  start(): Promise<void> {
    return this.#place.start();
  }

  async put(stream: string, file: ReceivedFile): Promise<void> {
    const { sha256 } = file;
    if (!SHA256.test(sha256)) throw new TypeError('a document is addressed by a hexadecimal SHA-256');
    await this.#put({ stream, sha256 }, (key) => seal(file.read(), key, { stream, sha256 }));
  }

  async copy(from: string, to: string, sha256: string): Promise<boolean> {
    const content = await this.open(from, sha256);
    if (content === undefined) return false;
    const identity = { stream: to, sha256 };
    try {
      await this.#put(identity, (key) => seal(content.pieces, key, identity));
      return true;
    } finally {
      // Nothing is read of it where the copy is there already.
      await content.pieces[Symbol.asyncIterator]().return?.();
    }
  }

  async get(stream: string, sha256: string): Promise<Uint8Array | undefined> {
    const content = await this.open(stream, sha256);
    return content && Buffer.concat(await Array.fromAsync(content.pieces));
  }

  async open(stream: string, sha256: string): Promise<StoredContent | undefined> {
    const key = SHA256.test(sha256) ? await this.#keys.find(stream) : undefined;
    const content = key && (await this.#place.open(nameOf({ stream, sha256 }), key.id));
    if (!content) return undefined;
    const pieces = openSealed(content, key, { stream, sha256 });
    return {
      size: contentLength(content.size),
      pieces: content.close ? closing(pieces, () => content.close!()) : pieces,
    };
  }

  async remove(stream: string, sha256: string): Promise<void> {
    if (SHA256.test(sha256)) await this.#place.remove(nameOf({ stream, sha256 }));
  }

  async #put(identity: ContentIdentity, sealed: (key: DocumentKey) => AsyncIterable<Buffer>): Promise<void> {
    const key = await this.#keys.find(identity.stream);
    if (!key)
      throw new NoOperationKeyError(
        `${identity.stream} has no key: its document ${identity.sha256} is not stored`,
      );
    await this.#place.put(nameOf(identity), key.id, () => sealed(key));
  }
}
