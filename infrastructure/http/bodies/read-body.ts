import { isUtf8 } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { ClientGoneError, HttpProblem } from '../errors/http-problem.ts';
import { BoundedBuffer } from './bounded-buffer.ts';
import { requireShallow } from './json-depth.ts';
import { parseExactJson } from '../../../application/schemas/exact-json.ts';

/** Responses whose client waits for `100 Continue` before it sends the body. */
export const awaitingContinue = new WeakSet<ServerResponse>();

export const letContinue = (res: ServerResponse): void => {
  if (awaitingContinue.delete(res)) res.writeContinue();
};

export const tooLarge = (what: string, limit: number): HttpProblem =>
  new HttpProblem('payload_too_large', `${what} may hold at most ${limit} bytes`);

/** Declared length of the body; undefined when it is chunked, 0 when there is none. */
export const declaredLength = (req: IncomingMessage): number | undefined => {
  if (req.headers['transfer-encoding'] !== undefined) return undefined;
  const length = req.headers['content-length'];
  return length === undefined ? 0 : Number(length);
};

/**
 * The whole body, never more than `limit` bytes of it.
 * @throws HttpProblem `payload_too_large` @throws ClientGoneError
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
      if (!body.add(chunk)) stop(tooLarge('the body', limit));
    };
    const onEnd = (): void => stop();
    const onClose = (): void => stop(new ClientGoneError('closed while its body was being read'));
    req.on('data', onData).on('end', onEnd).on('close', onClose).on('error', onClose);
    // Closed before anybody listened.
    if (req.destroyed) onClose();
  });

/** @throws HttpProblem `invalid_request` */
export const parseJson = (text: string, what: string): unknown => {
  if (text === '') throw new HttpProblem('invalid_request', `${what} is empty; send a JSON object`);
  requireShallow(text, what);
  try {
    return parseExactJson(text);
  } catch {
    throw new HttpProblem('invalid_request', `${what} is not valid JSON`);
  }
};

/** @throws HttpProblem `invalid_request` for bytes that are not UTF-8 */
export const textOf = (body: Buffer, what: string): string => {
  if (!isUtf8(body)) throw new HttpProblem('invalid_request', `${what} is not valid UTF-8`);
  return body.toString('utf8');
};
