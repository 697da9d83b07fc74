import { isUtf8 } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { ClientGoneError, HttpProblem } from '../errors/http-problem.ts';

const UTF8 = /^(utf-?8|us-ascii)$/i;
const CHARSET = /;\s*charset\s*=\s*"?([^\s;"]*)"?/i;

/** Media type of the body in lower case, without parameters; undefined when the header is absent. */
export const mediaTypeOf = (req: IncomingMessage): string | undefined => {
  const header = req.headers['content-type'];
  if (header === undefined || header === 'application/json') return header;
  const end = header.indexOf(';');
  return (end < 0 ? header : header.slice(0, end)).trim().toLowerCase();
};

export const hasForeignCharset = (req: IncomingMessage): boolean => {
  const header = req.headers['content-type'];
  if (header === undefined || !header.includes(';')) return false;
  const charset = CHARSET.exec(header)?.[1];
  return charset !== undefined && !UTF8.test(charset);
};

/** Whether a list of codings has another one than this; its elements may be empty (RFC 9110, section 5.6.1). */
const hasOther = (codings: string | undefined, plain: string): boolean =>
  codings !== undefined &&
  codings.split(',').some((coding) => !['', plain].includes(coding.trim().toLowerCase()));

export const isEncoded = ({ headers }: IncomingMessage): boolean =>
  hasOther(headers['content-encoding'], 'identity') || hasOther(headers['transfer-encoding'], 'chunked');

/** Declared length of the body; undefined when it is chunked, 0 when there is none. */
export const declaredLength = (req: IncomingMessage): number | undefined => {
  if (req.headers['transfer-encoding'] !== undefined) return undefined;
  const length = req.headers['content-length'];
  return length === undefined ? 0 : Number(length);
};

/** Responses whose client waits for `100 Continue` before it sends the body. */
export const awaitingContinue = new WeakSet<ServerResponse>();

export const letContinue = (res: ServerResponse): void => {
  if (awaitingContinue.delete(res)) res.writeContinue();
};

/**
 * Gathers bytes up to a limit in one piece of memory: a thousand chunks of one byte cost a thousand bytes, not a thousand
 * buffers.
 */
export class BoundedBuffer {
  readonly #limit: number;
  #bytes: Buffer = Buffer.alloc(0);
  #size = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** False when this is more than fits; then nothing was added. */
  add(chunk: Buffer): boolean {
    const size = this.#size + chunk.length;
    if (size > this.#limit) return false;
    if (this.#size === 0) this.#bytes = chunk;
    else {
      if (size > this.#bytes.length) this.#grow(size);
      chunk.copy(this.#bytes, this.#size);
    }
    this.#size = size;
    return true;
  }

  /** What was gathered. Nothing may be added after that. */
  content(): Buffer {
    return this.#bytes.subarray(0, this.#size);
  }

  #grow(size: number): void {
    const larger = Buffer.allocUnsafeSlow(Math.min(this.#limit, Math.max(2 * size, 4096)));
    this.#bytes.copy(larger, 0, 0, this.#size);
    this.#bytes = larger;
  }
}

/** Nothing is held of a body that comes in no more pieces than this, or in longer ones. */
const FIRST_PIECES = 32;
const SHORT_BYTES = 1_024;
const GATHERED_BYTES = 4_096;
const GATHERED_MS = 1;
/** Enough for a batch of 500 settlements that is sent word by word; pieces beyond that have to hold so much on average. */
const FREE_PIECES = 20_000;
const LEAST_BYTES = 64;

const crumbled = new WeakSet<IncomingMessage>();

/** Whether a body has come in more pieces than it may. */
export const isCrumbled = (req: IncomingMessage): boolean => crumbled.has(req);

/**
 * Hands short pieces of a body on together, whoever reads it. In chunks of a byte it would cost a hundred times as much as another:
 * each is a buffer of its own, and megabytes of them come before other connections have their turn.
 */
export const gatherPieces = (req: IncomingMessage): void => {
  const push = req.push.bind(req);
  let short = new BoundedBuffer(GATHERED_BYTES);
  let timer: NodeJS.Timeout | undefined;
  let [pieces, bytes] = [0, 0];
  const handOn = (): void => {
    clearTimeout(timer);
    timer = undefined;
    const gathered = short.content();
    short = new BoundedBuffer(GATHERED_BYTES);
    // Kept by a parser, this holds no more memory than its own.
    if (gathered.length > 0 && !req.destroyed) push(Buffer.from(gathered));
  };
  req.push = (piece: Buffer | null): boolean => {
    if (piece === null) {
      handOn();
      return push(piece);
    }
    pieces += 1;
    bytes += piece.length;
    if (pieces > FREE_PIECES + bytes / LEAST_BYTES) crumbled.add(req);
    if (timer === undefined && (pieces <= FIRST_PIECES || piece.length >= SHORT_BYTES)) return push(piece);
    if (!short.add(piece)) {
      handOn();
      if (!short.add(piece)) return push(piece);
    }
    timer ??= setTimeout(handOn, GATHERED_MS);
    // Until then nothing more is read from the connection.
    return false;
  };
};

export const tooManyPieces = (): HttpProblem =>
  new HttpProblem(
    'invalid_request',
    `the body comes in too many pieces; send chunks of at least ${LEAST_BYTES} bytes`,
  );

/** @param field how details name it: `body`, the data part, or the place of a file */
export const tooMuch = (field: string, message: string): HttpProblem =>
  new HttpProblem('payload_too_large', message, [{ field, code: 'payload_too_large', message }]);

export const tooLarge = (field: string, what: string, limit: number): HttpProblem =>
  tooMuch(field, `${what} may hold at most ${limit} bytes`);

/**
 * The whole body, never more than `limit` bytes of it.
 * @throws HttpProblem `payload_too_large`, `invalid_request` @throws ClientGoneError
 */
export const readBody = (req: IncomingMessage, limit: number): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const body = new BoundedBuffer(limit);
    const stop = (error?: Error): void => {
      req.off('data', onData).off('end', onEnd).off('close', onClose).off('error', onClose);
      if (error) reject(error);
      else resolve(body.content());
    };
    const onData = (chunk: Buffer): void => {
      if (!body.add(chunk)) stop(tooLarge('body', 'the body', limit));
      else if (isCrumbled(req)) stop(tooManyPieces());
    };
    const onEnd = (): void => stop();
    const onClose = (): void => stop(new ClientGoneError('closed while its body was being read'));
    req.on('data', onData).on('end', onEnd).on('close', onClose).on('error', onClose);
    // The connection closed before the listeners were added.
    if (req.destroyed) onClose();
  });

/** @throws HttpProblem `invalid_request` for bytes that are not UTF-8 */
export const textOf = (body: Buffer, what: string): string => {
  if (!isUtf8(body))
    throw new HttpProblem('invalid_request', `${what} is not valid UTF-8; send it in that encoding`);
  return body.toString('utf8');
};
