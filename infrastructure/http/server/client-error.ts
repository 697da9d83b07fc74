import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import type { ErrorCode } from '../errors/error-table.ts';
import { HttpProblem } from '../errors/http-problem.ts';
import { RATE_ROWS, rateHeaders } from '../limits/rate-limiter.ts';
import type { RateLimiter, RateState } from '../limits/rate-limiter.ts';
import { addressKey } from '../middleware/request-state.ts';
import { headersOfTheLast } from '../security-headers.ts';

const CLOSE_MS = 1_000;

export interface ClientError {
  readonly code?: string;
  /** What the parser stumbled over. */
  readonly reason?: string;
}

/** Of what the parser says itself, this would not help who made the request. */
const INSTEAD: Readonly<Record<string, string>> = {
  HPE_INVALID_METHOD:
    'it begins with no method; a body in front of it may be longer than its Content-Length says',
  HPE_INVALID_CONSTANT: 'behind the address HTTP/1.1 is expected; a space in an address is written %20',
  HPE_INVALID_URL: 'a character of the address has to be percent-encoded',
  HPE_INVALID_EOF_STATE: 'it ended too early',
  HPE_PAUSED_H2_UPGRADE: 'HTTP/2 is not spoken here',
};

const refusalOf = (
  { code = '', reason }: ClientError,
  headerBytes: number,
): readonly [status: string, ErrorCode, message: string] => {
  if (code === 'HPE_HEADER_OVERFLOW') {
    const message = `the headers are too large; with the address they may hold ${headerBytes} bytes`;
    return ['431 Request Header Fields Too Large', 'invalid_request', message];
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return ['408 Request Timeout', 'request_timeout', 'the request took too long to arrive'];
  const why = INSTEAD[code] ?? reason;
  const message = `this is not a valid HTTP request${why === undefined ? '' : `: ${why}`}`;
  return ['400 Bad Request', 'invalid_request', message];
};

/** Answers what Node could not read as a request, with the body and the headers of every other refusal. */
export const answerClientError = async (
  error: ClientError,
  socket: Socket,
  limiter: RateLimiter,
  headerBytes: number,
): Promise<void> => {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroySoon();
    return;
  }
  const requestId = randomUUID();
  const [status, code, message] = refusalOf(error, headerBytes);
  const body = JSON.stringify(new HttpProblem(code, message).body(requestId));
  const rate = await rateOf(socket, limiter).catch(() => undefined);
  const headers = headersOfTheLast(body, requestId, rate && rateHeaders(rate));
  const lines = headers.map((text, at) => text + (at % 2 === 0 ? ': ' : '\r\n'));
  socket.end(`HTTP/1.1 ${status}\r\n${lines.join('')}\r\n${body}`);
  // A client that was refused for being too slow may never close its side.
  setTimeout(() => socket.destroy(), CLOSE_MS).unref();
};

const rateOf = async (socket: Socket, limiter: RateLimiter): Promise<RateState> =>
  limiter.take('address', `${addressKey(socket.remoteAddress ?? 'unknown')} read`, RATE_ROWS.read);
