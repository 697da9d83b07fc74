import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { DamagedDocumentError } from '../../application/ports/document-store.ts';

/** The source of the keys that documents are sealed with. It makes none: a new one could seal data of a borrower who was just forgotten. */
export interface DocumentKeys {
  find(stream: string): Promise<DocumentKey | undefined>;
}

/** The operation's data key. Its `id` stands in the file, so that a file whose key was deleted is recognised. */
export interface DocumentKey {
  /** 16 hexadecimal digits. */
  readonly id: string;
  /** 32 bytes. */
  readonly bytes: Uint8Array;
}

/** Authenticated together with the content: the stream it belongs to, and its digest. */
export interface ContentIdentity {
  readonly stream: string;
  /** Hexadecimal SHA-256 of the content. */
  readonly sha256: string;
}

/* A sealed file: "RFD1", key id (8 bytes), nonce (12), ciphertext, tag (16). */
const MAGIC = Buffer.from('RFD1', 'latin1');
const KEY_ID_END = 12;
export const HEADER_BYTES = 24;
const TAG_BYTES = 16;
const CHUNK_BYTES = 256 * 1024;
const CIPHER = 'aes-256-gcm';

export const keyIdOf = (header: Uint8Array): string | undefined => {
  const bytes = Buffer.from(header);
  const known = bytes.length >= HEADER_BYTES && bytes.subarray(0, MAGIC.length).equals(MAGIC);
  return known ? bytes.subarray(MAGIC.length, KEY_ID_END).toString('hex') : undefined;
};

/** The sealed bytes of a content, a small one's in one piece. @throws DamagedDocumentError when it is not the one expected */
export const seal = async function* (
  content: AsyncIterable<Uint8Array>,
  key: DocumentKey,
  identity: ContentIdentity,
): AsyncGenerator<Buffer> {
  const nonce = randomBytes(HEADER_BYTES - KEY_ID_END);
  const cipher = createCipheriv(CIPHER, key.bytes, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(authenticated(identity));
  const hash = createHash('sha256');
  let sealed = Buffer.concat([MAGIC, Buffer.from(key.id, 'hex'), nonce]);
  for await (const chunk of content) {
    hash.update(chunk);
    sealed = Buffer.concat([sealed, cipher.update(chunk)]);
    if (sealed.length < CHUNK_BYTES) continue;
    yield sealed;
    sealed = Buffer.alloc(0);
  }
  if (hash.digest('hex') !== identity.sha256) {
    throw new DamagedDocumentError(
      `a file changed after it was received: its SHA-256 is not ${identity.sha256}`,
    );
  }
  yield Buffer.concat([sealed, cipher.final(), cipher.getAuthTag()]);
};

/** Random access to stored sealed bytes. */
export interface SealedSource {
  readonly size: number;
  /** The bytes from `start` to before `end`; fewer where the stored object is truncated. */
  read(start: number, end: number): Promise<Buffer>;
}

export const contentLength = (sealedSize: number): number =>
  Math.max(0, sealedSize - HEADER_BYTES - TAG_BYTES);

/** The content, piece by piece; the last piece is held back until all are authenticated. @throws DamagedDocumentError */
export const openSealed = async function* (
  source: SealedSource,
  key: DocumentKey,
  identity: ContentIdentity,
): AsyncGenerator<Buffer> {
  const end = source.size - TAG_BYTES;
  if (end < HEADER_BYTES) throw damaged(identity);
  const read = async (from: number, to: number): Promise<Buffer> => {
    const bytes = await source.read(from, to);
    if (bytes.length !== to - from) throw damaged(identity);
    return bytes;
  };
  const nonce = await read(KEY_ID_END, HEADER_BYTES);
  const decipher = createDecipheriv(CIPHER, key.bytes, nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(authenticated(identity));
  decipher.setAuthTag(await read(end, source.size));
  const hash = createHash('sha256');
  let held: Buffer | undefined;
  for (let from = HEADER_BYTES; from < end; from += CHUNK_BYTES) {
    const piece = decipher.update(await read(from, Math.min(from + CHUNK_BYTES, end)));
    hash.update(piece);
    if (held) yield held;
    held = piece;
  }
  try {
    decipher.final();
  } catch {
    throw damaged(identity);
  }
  if (hash.digest('hex') !== identity.sha256) throw damaged(identity);
  if (held) yield held;
};

const authenticated = ({ stream, sha256 }: ContentIdentity): Buffer =>
  Buffer.from(`document|${stream}|${sha256}`, 'utf8');

const damaged = ({ stream, sha256 }: ContentIdentity): DamagedDocumentError =>
  new DamagedDocumentError(`document ${sha256} of ${stream} is damaged`);
