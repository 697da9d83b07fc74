import { createHash, createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';

const ACCESS_KEY = 'AKIASANDBOX';
const SECRET = 'se/cret+key=';
const BUCKET = 'documents-bucket';

const sha256 = (data: Buffer | string): string => createHash('sha256').update(data).digest('hex');
const hmac = (key: Buffer | string, text: string): Buffer => createHmac('sha256', key).update(text).digest();

/** Signature Version 4 as its documentation describes it, worked out on the receiving side. */
const signatureOf = (
  req: IncomingMessage,
  day: string,
  region: string,
  signed: readonly string[],
): string => {
  const url = new URL(req.url!, 'http://x');
  const headers = signed.map((name) => `${name}:${String(req.headers[name]).trim()}\n`).join('');
  const canonical = [
    ...[req.method, url.pathname, url.search.slice(1), headers, signed.join(';')],
    req.headers['x-amz-content-sha256'],
  ].join('\n');
  const scope = `${day}/${region}/s3/aws4_request`;
  const text = ['AWS4-HMAC-SHA256', req.headers['x-amz-date'], scope, sha256(canonical)].join('\n');
  const key = ['s3', 'aws4_request'].reduce(hmac, hmac(hmac(`AWS4${SECRET}`, day), region));
  return hmac(key, text).toString('hex');
};

const isSigned = (req: IncomingMessage): boolean => {
  const [, id, day = '', region = '', signed = '', signature] =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/.exec(
      req.headers.authorization ?? '',
    ) ?? [];
  return id === ACCESS_KEY && signature === signatureOf(req, day, region, signed.split(';'));
};

interface StoredObject {
  bytes: Buffer;
  readonly keyId: string;
}

type Fault = 'unavailable' | 'cut' | 'silent';

/** Speaks as much of S3 as documents need, and checks every signature and digest. */
export class S3StandIn {
  readonly objects = new Map<string, StoredObject>();
  /** What the next requests meet, one each. */
  readonly faults: Fault[] = [];
  requests = 0;
  url = '';
  readonly #server = createServer((req, res) => void this.#answer(req, res));

  static async start(): Promise<S3StandIn> {
    const standIn = new S3StandIn();
    standIn.#server.listen(0, '127.0.0.1');
    await once(standIn.#server, 'listening');
    const { port } = standIn.#server.address() as { port: number };
    const credentials = `${ACCESS_KEY}:${encodeURIComponent(SECRET)}`;
    standIn.url = `http://${credentials}@127.0.0.1:${port}/${BUCKET}?region=sa-east-1`;
    return standIn;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    this.requests += 1;
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const fault = this.faults.shift();
    if (fault === 'silent') return;
    if (fault === 'cut') return void req.socket.destroy();
    if (fault === 'unavailable') return void res.writeHead(503).end('SlowDown');
    if (!isSigned(req)) return void res.writeHead(403).end('SignatureDoesNotMatch');
    if (req.headers['x-amz-content-sha256'] !== sha256(body)) return void res.writeHead(400).end('BadDigest');
    this.#serve(req, res, body);
  }

  #serve(req: IncomingMessage, res: ServerResponse, body: Buffer): void {
    const [, bucket, ...rest] = req.url!.split('/');
    const name = rest.join('/');
    if (bucket !== BUCKET) return void res.writeHead(404).end('NoSuchBucket');
    if (name === '') return void res.writeHead(200).end();
    if (req.method === 'PUT') {
      this.objects.set(name, { bytes: body, keyId: String(req.headers['x-amz-meta-key-id']) });
      return void res.writeHead(200).end();
    }
    if (req.method === 'DELETE') {
      this.objects.delete(name);
      return void res.writeHead(204).end();
    }
    const found = this.objects.get(name);
    if (!found) return void res.writeHead(404).end();
    const range = /^bytes=(\d+)-(\d+)$/.exec(req.headers.range ?? '');
    if (range) {
      const part = found.bytes.subarray(Number(range[1]), Number(range[2]) + 1);
      return void res.writeHead(206, { 'content-length': part.length }).end(part);
    }
    res.writeHead(200, { 'x-amz-meta-key-id': found.keyId, 'content-length': found.bytes.length });
    res.end(req.method === 'HEAD' ? undefined : found.bytes);
  }
}
