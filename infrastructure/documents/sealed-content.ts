import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';

/** The operation's data key. `id` names it in the file, so that a file of a forgotten key is known as such. */
export interface DocumentKey {
  /** 16 hexadecimal digits. */
  readonly id: string;
  /** 32 bytes. */
  readonly bytes: Uint8Array;
}

/** What is authenticated together with the content: where it belongs and which content it must be. */
export interface ContentIdentity {
  readonly stream: string;
  /** Hexadecimal SHA-256 of the content. */
  readonly sha256: string;
}

/** The content is not what its name says: damaged or changed on disk, or while it was copied. */
export class DamagedDocumentError extends Error {
  override readonly name = 'DamagedDocumentError';
}

/* A sealed file: "RFD1", key id (8 bytes), nonce (12), ciphertext, tag (16). */
const MAGIC = Buffer.from('RFD1', 'latin1');
const KEY_ID_END = 12;
const HEADER_BYTES = 24;
const TAG_BYTES = 16;
const CHUNK_BYTES = 256 * 1024;
const CIPHER = 'aes-256-gcm';

export const HEADER_LENGTH = HEADER_BYTES;

export const keyIdOf = (header: Uint8Array): string | undefined => {
  const bytes = Buffer.from(header);
  const known = bytes.length >= HEADER_BYTES && bytes.subarray(0, MAGIC.length).equals(MAGIC);
  return known ? bytes.subarray(MAGIC.length, KEY_ID_END).toString('hex') : undefined;
};

/** The sealed bytes of a content, piece by piece. @throws DamagedDocumentError when it is not the one expected */
export const seal = async function* (
  content: AsyncIterable<Uint8Array>,
  key: DocumentKey,
  identity: ContentIdentity,
): AsyncGenerator<Buffer> {
  const nonce = randomBytes(HEADER_BYTES - KEY_ID_END);
  const cipher = createCipheriv(CIPHER, key.bytes, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(authenticated(identity));
  const hash = createHash('sha256');
  yield Buffer.concat([MAGIC, Buffer.from(key.id, 'hex'), nonce]);
  for await (const chunk of content) {
    hash.update(chunk);
    yield cipher.update(chunk);
  }
  yield Buffer.concat([cipher.final(), cipher.getAuthTag()]);
  if (hash.digest('hex') !== identity.sha256) {
    throw new DamagedDocumentError(
      `a file changed after it was received: its SHA-256 is not ${identity.sha256}`,
    );
  }
};

/** The same for a content that is in memory. */
export const sealBytes = (
  content: Uint8Array,
  key: DocumentKey,
  identity: ContentIdentity,
): AsyncGenerator<Buffer> => seal(piecesOf(content), key, identity);

const piecesOf = async function* (content: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let from = 0; from < content.length; from += CHUNK_BYTES) {
    yield content.subarray(from, from + CHUNK_BYTES);
    await setImmediate();
  }
};

/** @throws DamagedDocumentError */
export const openSealed = async (
  sealed: Buffer,
  key: DocumentKey,
  identity: ContentIdentity,
): Promise<Uint8Array> => {
  if (sealed.length < HEADER_BYTES + TAG_BYTES) throw damaged(identity);
  const decipher = createDecipheriv(CIPHER, key.bytes, sealed.subarray(KEY_ID_END, HEADER_BYTES), {
    authTagLength: TAG_BYTES,
  });
  decipher.setAAD(authenticated(identity));
  decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
  const hash = createHash('sha256');
  const pieces: Buffer[] = [];
  for (let from = HEADER_BYTES; from < sealed.length - TAG_BYTES; from += CHUNK_BYTES) {
    const piece = decipher.update(
      sealed.subarray(from, Math.min(from + CHUNK_BYTES, sealed.length - TAG_BYTES)),
    );
    hash.update(piece);
    pieces.push(piece);
    await setImmediate();
  }
  try {
    decipher.final();
  } catch {
    throw damaged(identity);
  }
  if (hash.digest('hex') !== identity.sha256) throw damaged(identity);
  return Buffer.concat(pieces);
};

const authenticated = ({ stream, sha256 }: ContentIdentity): Buffer =>
  Buffer.from(`document|${stream}|${sha256}`, 'utf8');

const damaged = ({ stream, sha256 }: ContentIdentity): DamagedDocumentError =>
  new DamagedDocumentError(`document ${sha256} of ${stream} is damaged`);
