import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ErrorRequestHandler, RequestHandler } from 'express';
import type { RequestWatch, WatchedRequest } from '../../../application/ports/observation.ts';
import { TurnLimit } from '../../support/time.ts';
import { awaitingContinue, declaredLength, isCrumbled } from '../bodies/read-body.ts';
import { ClientGoneError, oauthDescription, oauthError } from '../errors/http-problem.ts';
import type { HttpProblem } from '../errors/http-problem.ts';
import { rateHeaders } from '../limits/rate-limiter.ts';
import type { Operation, Reply } from '../operation.ts';
import { DATA_POLICY, SECURITY_HEADERS } from '../security-headers.ts';
import { contextOf, stateOf } from './request-state.ts';
import type { RequestState } from './request-state.ts';

const ITEMS_IN_A_PIECE = 32;

/** `JSON.stringify` of a value that can be written, cut where a list directly below an object is long. */
export const textPieces = function* (value: unknown): Generator<string> {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    yield JSON.stringify(value);
    return;
  }
  let before = '{';
  for (const [name, field] of Object.entries(value)) {
    if (field === undefined) continue;
    yield `${before}${JSON.stringify(name)}:`;
    if (Array.isArray(field) && field.length > ITEMS_IN_A_PIECE) yield* listPieces(field);
    else yield JSON.stringify(field);
    before = ',';
  }
  yield before === '{' ? '{}' : '}';
};

const listPieces = function* (list: readonly unknown[]): Generator<string> {
  for (let at = 0; at < list.length; at += ITEMS_IN_A_PIECE) {
    const items = JSON.stringify(list.slice(at, at + ITEMS_IN_A_PIECE)).slice(1, -1);
    yield `${at === 0 ? '[' : ','}${items}`;
  }
  yield ']';
};

const JSON_TYPE = 'application/json; charset=utf-8';
/** An unread body up to this size is cheaper to read than a new connection is to make. */
const WORTH_READING = 65_536;

const TRANSPORT_SECURITY = ['Strict-Transport-Security', 'max-age=31536000'];
const NO_STORE = ['Cache-Control', 'no-store'];

/**
 * A body on its way whose connection ends with the answer: because it is long, because the client asked for that, or because Node ends
 * it where a client asked for `100 Continue` and never saw one. Many such clients send at once or after a moment, whatever comes.
 */
const isStillSent = ({ req, res }: RequestState): boolean => {
  if (req.complete) return false;
  const length = declaredLength(req);
  const ends = !res.shouldKeepAlive || awaitingContinue.has(res);
  return length === undefined || length > (ends ? 0 : WORTH_READING);
};

/** Writes responses: every one of them goes through here, with the headers that all of them carry. */
export class Responder {
  readonly #always: readonly string[];

  constructor(apiVersion: string, secure: boolean, deprecation?: string) {
    this.#always = [
      ...['X-SVC-API-Version', apiVersion],
      ...(deprecation === undefined ? [] : ['X-SVC-API-Deprecation', deprecation]),
      ...SECURITY_HEADERS,
      ...(secure ? TRANSPORT_SECURITY : []),
    ];
  }

  /** Resolves when the answer is on its way; for a reply with contents, when they are sent or the client stopped reading. */
  async reply(state: RequestState, reply: Reply): Promise<void> {
    const headers = this.#headers(state, reply.contentSecurityPolicy);
    const { mediaType = JSON_TYPE } = reply;
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
      await sendPieces(state, reply.status, headers, pieces);
    } else if ((state.turn ?? reply.isLong) && hasBody(reply)) {
      const pieces = reply.bytes ? piecesOf(reply.bytes) : await written(reply.json);
      const size = pieces.reduce((sum, piece) => sum + piece.length, 0);
      headers.push('Content-Type', mediaType, 'Content-Length', String(size));
      await sendPieces(state, reply.status, headers, pieces);
    } else if (reply.bytes) this.#send(state, reply.status, headers, reply.bytes, mediaType);
    else
      this.#send(
        state,
        reply.status,
        headers,
        reply.json === undefined ? '' : JSON.stringify(reply.json),
        JSON_TYPE,
      );
  }

  /** `oauth` adds the error names that OAuth clients look for. */
  refuse(state: RequestState, problem: HttpProblem, oauth = false): void {
    const body = {
      ...(oauth && {
        error: oauthError(problem.code),
        error_description: oauthDescription(problem.message),
      }),
      ...problem.body(state.requestId),
    };
    const headers = this.#headers(state);
    headers.push(...problem.headers, ...NO_STORE);
    this.#send(state, problem.status, headers, JSON.stringify(body), JSON_TYPE);
  }

  #headers({ requestId, rate }: RequestState, policy = DATA_POLICY): string[] {
    const headers = ['X-Request-Id', requestId, 'Content-Security-Policy', policy, ...this.#always];
    if (rate) headers.push(...rateHeaders(rate));
    return headers;
  }

  // eslint-disable-next-line max-params -- the five parts of a response, on the hottest path
  #send(
    state: RequestState,
    status: number,
    headers: string[],
    body: string | Buffer,
    mediaType: string,
  ): void {
    const { req, res } = state;
    if (res.headersSent || res.destroyed) return;
    if (body.length > 0) {
      headers.push('Content-Type', mediaType, 'Content-Length', String(Buffer.byteLength(body)));
    }
    if (!isStillSent(state)) {
      res.writeHead(status, headers).end(body);
      return;
    }
    headers.push('Connection', 'close');
    res.writeHead(status, headers);
    if (body.length > 0) res.write(body);
    lingeringEnd(req, res);
  }
}

/** A client that reads nothing for this long counts as gone. */
const STALLED_MS = 30_000;

/** True when there is room again, or all is sent; false when the client is gone or stalled. */
const settled = (res: ServerResponse, event: 'drain' | 'finish'): Promise<boolean> =>
  new Promise((resolve) => {
    const settle = (more: boolean) => (): void => {
      clearTimeout(timer);
      res.off(event, onEvent).off('close', onClose);
      resolve(more);
    };
    const [onEvent, onClose] = [settle(true), settle(false)];
    const timer = setTimeout(onClose, STALLED_MS);
    res.on(event, onEvent).on('close', onClose);
    if (res.writableFinished) onEvent();
    else if (res.destroyed) onClose();
  });

const LARGE_PIECE = 32_768;
const sharedTurn = new TurnLimit();

const hasBody = ({ bytes, json }: Reply): boolean => bytes !== undefined || json !== undefined;

const piecesOf = (bytes: Buffer): readonly Buffer[] =>
  Array.from({ length: Math.ceil(bytes.length / LARGE_PIECE) }, (_, at) =>
    bytes.subarray(at * LARGE_PIECE, (at + 1) * LARGE_PIECE),
  );

/** The text of an answer. One that is long gives way to other requests while it is written. */
const written = async (json: unknown): Promise<readonly Buffer[]> => {
  const pieces: Buffer[] = [];
  let text = '';
  for (const more of textPieces(json)) {
    text += more;
    if (text.length < LARGE_PIECE) continue;
    pieces.push(Buffer.from(text));
    text = '';
    await sharedTurn.pass();
  }
  if (text !== '') pieces.push(Buffer.from(text));
  return pieces;
};

/**
 * Sends a body piece by piece, as fast as the client reads. The head goes out with the first piece, so that an earlier failure can
 * still be answered; a later one closes the connection, and the announced length tells the client that something is missing.
 */
const sendPieces = async (
  { req, res }: RequestState,
  status: number,
  headers: readonly string[],
  pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<void> => {
  try {
    for await (const piece of pieces) {
      if (!res.headersSent) res.writeHead(status, [...headers]);
      if (req.method === 'HEAD') break;
      if (!res.write(piece) && !(await settled(res, 'drain'))) throw new ClientGoneError('closed or stalled');
    }
    if (!res.headersSent) res.writeHead(status, [...headers]);
    res.end();
    if (!(await settled(res, 'finish'))) throw new ClientGoneError('closed or stalled');
  } catch (error) {
    if (res.headersSent) res.destroy();
    throw error;
  }
};

const LONGEST_MS = 2_000;
const MOST_BYTES = 8 * 1_048_576;

/**
 * Ends a response whose request is still arriving. Closing at once would reset the connection, and a client that is still sending
 * might lose the answer. So for a short while incoming bytes are discarded, and then the connection is closed.
 */
const lingeringEnd = (req: IncomingMessage, res: ServerResponse): void => {
  let bytes = 0;
  const end = (): void => {
    clearTimeout(timer);
    req.off('data', onData).off('end', end).off('close', end);
    res.end();
  };
  const onData = (chunk: Buffer): void => {
    bytes += chunk.length;
    if (bytes > MOST_BYTES || isCrumbled(req)) end();
  };
  const timer = setTimeout(end, LONGEST_MS);
  req.unpipe();
  req.on('data', onData).on('end', end).on('close', end);
  req.resume();
};

const watched = ({ requestId, operation, req, res }: RequestState): WatchedRequest => {
  const { traceparent } = req.headers;
  return {
    requestId,
    operation: operation?.id,
    method: req.method ?? '',
    traceparent: typeof traceparent === 'string' ? traceparent : undefined,
    status: () => (res.headersSent ? res.statusCode : undefined),
  };
};

/** `next` is called inside the watch, so that everything after it belongs to the trace of this request. */
const observe = (watch: RequestWatch, state: RequestState, next: () => void): void => {
  void watch.run(watched(state), () => {
    next();
    return state.finished;
  });
};

export const observed =
  (watch: RequestWatch, operation: Operation): RequestHandler =>
  (_req, res, next) => {
    const state = stateOf(res);
    state.operation = operation;
    observe(watch, state, next);
  };

/** Observes requests that no operation matches: an unknown path, another method, or a path that cannot be decoded. */
export const observedUnmatched =
  (watch: RequestWatch): ErrorRequestHandler =>
  (error: unknown, _req, res, next) => {
    const state = stateOf(res);
    if (state.operation !== undefined) next(error);
    else observe(watch, state, () => next(error));
  };

export const handle = ({ run, bodies }: Operation, responder: Pick<Responder, 'reply'>): RequestHandler => {
  // Watching the connection costs something; only work on files is worth abandoning when the client has gone.
  const carriesFiles = bodies.some(({ form }) => form);
  return async (req, res) => {
    const state = stateOf(res);
    const { caller, client, body, files, query, headers } = state;
    const context = caller && contextOf(state, caller, carriesFiles ? state.gone : undefined);
    const params = req.params as Record<string, string | undefined>;
    const reply = await run({ context, client, body, files, params, query, headers, req });
    await responder.reply(state, reply);
    await state.finish();
  };
};
