import { awaitingContinue, declaredLength } from '../bodies/read-body.ts';
import type { HttpProblem } from '../errors/http-problem.ts';
import { oauthError } from '../errors/oauth-error.ts';
import type { Exchange } from './exchange.ts';
import { lingeringEnd } from './lingering-end.ts';
import { sendPieces } from './send-pieces.ts';
import type { Reply } from './reply.ts';

const JSON_TYPE = 'application/json; charset=utf-8';
/** An unread body up to this size is cheaper to read than a new connection is to make. */
const WORTH_READING = 65_536;

const SECURITY_HEADERS = [
  ...['X-Content-Type-Options', 'nosniff'],
  ...['X-Frame-Options', 'DENY'],
  ...['Referrer-Policy', 'no-referrer'],
  ...['Cross-Origin-Resource-Policy', 'same-origin'],
];
/** Answers are data: nothing in them is to be run or shown in a frame. */
const DATA_POLICY = "default-src 'none'; frame-ancestors 'none'";
const TRANSPORT_SECURITY = ['Strict-Transport-Security', 'max-age=31536000'];
const NO_STORE = ['Cache-Control', 'no-store'];

/** A client that waits for `100 Continue` has not started to send. */
const hasUnreadBody = ({ req, res }: Exchange): boolean => {
  if (req.complete || awaitingContinue.has(res)) return false;
  const length = declaredLength(req);
  return length === undefined || length > WORTH_READING;
};

/** Writes responses: every one of them goes through here, with the headers that all of them carry. */
export class Responder {
  readonly #always: readonly string[];

  /** `deprecation` is announced by every response, when there is one. */
  constructor(apiVersion: string, secure: boolean, deprecation?: string) {
    this.#always = [
      ...['X-SVC-API-Version', apiVersion],
      ...(deprecation === undefined ? [] : ['X-SVC-API-Deprecation', deprecation]),
      ...SECURITY_HEADERS,
      ...(secure ? TRANSPORT_SECURITY : []),
    ];
  }

  /** Resolves when the answer is on its way; one with contents, when they are through or nobody takes them any more. */
  async reply(exchange: Exchange, reply: Reply): Promise<void> {
    const headers = this.#headers(exchange, reply.contentSecurityPolicy);
    if (reply.headers) headers.push(...reply.headers);
    if (!reply.headers?.includes('Cache-Control')) headers.push(...NO_STORE);
    if (reply.content) {
      const { size, pieces } = reply.content;
      headers.push(
        'Content-Type',
        reply.mediaType ?? 'application/octet-stream',
        'Content-Length',
        String(size),
      );
      await sendPieces(exchange, reply.status, headers, pieces);
    } else if (reply.bytes)
      this.#send(exchange, reply.status, headers, reply.bytes, reply.mediaType ?? JSON_TYPE);
    else
      this.#send(
        exchange,
        reply.status,
        headers,
        reply.json === undefined ? '' : JSON.stringify(reply.json),
        JSON_TYPE,
      );
  }

  /** `oauth` adds the error names that OAuth clients look for. */
  refuse(exchange: Exchange, problem: HttpProblem, oauth = false): void {
    const body = {
      ...(oauth && { error: oauthError(problem.code), error_description: problem.message }),
      ...problem.body(exchange.requestId),
    };
    const headers = this.#headers(exchange);
    headers.push(...problem.headers, ...NO_STORE);
    this.#send(exchange, problem.status, headers, JSON.stringify(body), JSON_TYPE);
  }

  #headers({ requestId, rate }: Exchange, policy = DATA_POLICY): string[] {
    const headers = ['X-Request-Id', requestId, 'Content-Security-Policy', policy, ...this.#always];
    if (rate) {
      headers.push('X-RateLimit-Limit', String(rate.limit));
      headers.push('X-RateLimit-Remaining', String(rate.remaining));
      headers.push('X-RateLimit-Reset', String(rate.resetAt));
    }
    return headers;
  }

  // eslint-disable-next-line max-params -- the five parts of a response, on the hottest path
  #send(
    exchange: Exchange,
    status: number,
    headers: string[],
    body: string | Buffer,
    mediaType: string,
  ): void {
    const { req, res } = exchange;
    if (res.headersSent || res.destroyed) return;
    if (body.length > 0) {
      headers.push('Content-Type', mediaType, 'Content-Length', String(Buffer.byteLength(body)));
    }
    if (!hasUnreadBody(exchange)) {
      res.writeHead(status, headers).end(body);
      return;
    }
    headers.push('Connection', 'close');
    res.writeHead(status, headers);
    if (body.length > 0) res.write(body);
    lingeringEnd(req, res);
  }
}
