import { createHash } from 'node:crypto';
import { AwsClient } from 'aws4fetch';
import type { ByteRange } from '../../../application/ports/document-store.ts';
import { StoreUnavailableError } from '../../../application/ports/event-store.ts';
import { backoff } from '../../../application/support/retry.ts';
import type { SealedSource } from '../sealed-content.ts';
import type { PlacedContent, SealedPlace } from '../sealed-document-store.ts';

/** Address of and credentials for an S3-compatible storage of documents. */
interface S3Location {
  /** Address of the bucket, path style, with the prefix; no slash at the end. */
  readonly base: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

const DEFAULT_REGION = 'us-east-1';

/**
 * Reads `https://KEY:SECRET@host[:port]/bucket[/prefix][?region=...]`, both credentials percent-encoded.
 * @returns undefined for anything else, without a reason, because the text holds a secret
 */
export const parseS3Url = (text: string): S3Location | undefined => {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol) || url.hash !== '') return undefined;
  const path = url.pathname.replace(/(?<!\/)\/+$/, '');
  if (url.username === '' || url.password === '' || path === '' || path.includes('//')) return undefined;
  for (const name of url.searchParams.keys()) if (name !== 'region') return undefined;
  try {
    return {
      base: `${url.origin}${path}`,
      region: url.searchParams.get('region') ?? DEFAULT_REGION,
      accessKeyId: decodeURIComponent(url.username),
      secretAccessKey: decodeURIComponent(url.password),
    };
  } catch {
    return undefined;
  }
};

const ATTEMPTS = 4;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 400;
/** Its answer included. */
const ATTEMPT_MS = 10_000;
/** Most characters of a refusal's body that go into the error. */
const REASON_CHARACTERS = 300;

interface Request {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'DELETE';
  /** Below the bucket's address; empty for the bucket itself. */
  readonly name: string;
  readonly body?: Uint8Array<ArrayBuffer>;
  readonly headers?: Readonly<Record<string, string>>;
}

interface S3BucketOptions {
  readonly location: S3Location;
  readonly pause: (ms: number) => Promise<void>;
}

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** Time-outs, refused connections and overload: the same request may succeed a moment later. */
const mayPass = (status: number): boolean => status >= 500 || status === 429 || status === 408;

/** Objects of one bucket. Every request may be repeated, because a name stands for one content. */
export class S3Bucket {
  readonly #client: AwsClient;
  readonly #options: S3BucketOptions;

  constructor(options: S3BucketOptions) {
    const { accessKeyId, secretAccessKey, region } = options.location;
    // The client's own retries would take longer than one attempt may.
    this.#client = new AwsClient({ accessKeyId, secretAccessKey, region, service: 's3', retries: 0 });
    this.#options = options;
  }

  /** @throws Error when the bucket does not exist or refuses the credentials @throws StoreUnavailableError */
  async check(): Promise<void> {
    const { status } = await this.#send({ method: 'HEAD', name: '' });
    if (status !== 200)
      throw new Error(`the bucket of S3_URL answered ${status}: it has to exist and be ours`);
  }

  /** Metadata of an object by lower-case name, without its content. */
  async head(name: string): Promise<Headers | undefined> {
    const { status, headers } = await this.#send({ method: 'HEAD', name });
    if (status === 404) return undefined;
    if (status !== 200) throw new StoreUnavailableError(`document storage answered ${status} to HEAD`);
    return headers;
  }

  /** @param range not empty */
  async get(name: string, range?: ByteRange): Promise<Buffer | undefined> {
    const headers = range && { range: `bytes=${range.start}-${range.end - 1}` };
    const { status, content } = await this.#send({ method: 'GET', name, ...(headers && { headers }) });
    if (status === 404) return undefined;
    if (status === 206) return content;
    if (status !== 200) throw refused('GET', status, content);
    return range ? content.subarray(range.start, range.end) : content;
  }

  /** Durable when it resolves. */
  async put(
    name: string,
    body: Uint8Array<ArrayBuffer>,
    headers: Readonly<Record<string, string>>,
  ): Promise<void> {
    const { status, content } = await this.#send({ method: 'PUT', name, body, headers });
    if (status !== 200 && status !== 201 && status !== 204) throw refused('PUT', status, content);
  }

  async remove(name: string): Promise<void> {
    const { status, content } = await this.#send({ method: 'DELETE', name });
    if (status !== 200 && status !== 204 && status !== 404) throw refused('DELETE', status, content);
  }

  async #send(request: Request) {
    for (let attempt = 1; ; attempt++) {
      try {
        const answer = await this.#attempt(request);
        if (!mayPass(answer.status) || attempt === ATTEMPTS) return answer;
      } catch (error) {
        if (attempt === ATTEMPTS) {
          throw new StoreUnavailableError('document storage cannot be reached', { cause: error });
        }
      }
      await this.#options.pause(backoff(attempt, FIRST_PAUSE_MS, LONGEST_PAUSE_MS));
    }
  }

  async #attempt({ method, name, body, headers }: Request) {
    const { location } = this.#options;
    const response = await this.#client.fetch(name === '' ? location.base : `${location.base}/${name}`, {
      method,
      headers: { ...headers, 'x-amz-content-sha256': sha256(body ?? new Uint8Array()) },
      ...(body && { body }),
      redirect: 'manual',
      signal: AbortSignal.timeout(ATTEMPT_MS),
    });
    const content = Buffer.from(await response.arrayBuffer());
    return { status: response.status, headers: response.headers, content };
  }
}

const refused = (method: string, status: number, content: Buffer): StoreUnavailableError =>
  new StoreUnavailableError(
    `document storage answered ${status} to ${method}: ${content.subarray(0, REASON_CHARACTERS).toString()}`,
  );

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
