import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Request } from 'express';
import type { Schema } from '../../../application/schemas/schema.ts';
import { ETAG } from '../openapi/components/headers.ts';

const compress = promisify(gzip);

interface Coded {
  readonly bytes: Buffer;
  readonly etag: string;
  readonly headers: readonly string[];
}

const VARY = ['Vary', 'Accept-Encoding'];

const takesGzip = (req: Request): boolean => req.acceptsEncodings('gzip', 'identity') === 'gzip';

/** Whether `If-None-Match` names this representation (RFC 9110, 13.1.2: weak comparison, `*` matches all). */
export const isMatched = (ifNoneMatch: string | undefined, etag: string): boolean => {
  if (ifNoneMatch === undefined) return false;
  const candidates = ifNoneMatch.split(',').map((candidate) => candidate.trim().replace(/^W\//, ''));
  return candidates.includes('*') || candidates.includes(etag);
};

/** Bytes that never change while the process runs: compressed once, for clients that accept gzip, and revalidated by digest. */
export class ServedContent {
  readonly mediaType: string;
  /** SHA-256 of the uncompressed content, for file names that change with it. */
  readonly digest: string;
  readonly #plain: Coded;
  #compressed: Promise<Coded> | undefined;

  constructor(bytes: Buffer, mediaType: string) {
    this.mediaType = mediaType;
    this.digest = createHash('sha256').update(bytes).digest('base64url');
    this.#plain = { bytes, etag: `"${this.digest}"`, headers: [] };
  }

  /** 200 with the bytes, or 304; `headers` is flat. */
  async replyTo(req: Request, headers: readonly string[]) {
    const coded = takesGzip(req) ? await this.#gzipped() : this.#plain;
    const all = ['ETag', coded.etag, ...VARY, ...headers];
    if (isMatched(req.headers['if-none-match'], coded.etag)) return { status: 304, headers: all };
    const { bytes } = coded;
    return { status: 200, bytes, mediaType: this.mediaType, headers: [...all, ...coded.headers] };
  }

  #gzipped(): Promise<Coded> {
    this.#compressed ??= this.#compress();
    return this.#compressed;
  }

  async #compress(): Promise<Coded> {
    const bytes = await compress(this.#plain.bytes, { level: 9 });
    return { bytes, etag: `"${this.digest}-gz"`, headers: ['Content-Encoding', 'gzip'] };
  }
}

/** Caches may keep a copy but have to ask whether it is still the current one. */
export const REVALIDATE = ['Cache-Control', 'no-cache'];

export const served = (content: {
  readonly description: string;
  readonly mediaType: string;
  readonly otherMediaTypes?: readonly string[];
  readonly schema: Schema;
  readonly example: unknown;
}) => [
  { status: 200, ...content, headers: ETAG },
  { status: 304, description: 'The copy that If-None-Match names is current.', headers: ETAG },
];
