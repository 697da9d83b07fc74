import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RequestHandler, Response } from 'express';
import type { Client } from '../../../application/ports/clients.ts';
import type { ReceivedFile } from '../../../application/ports/document-store.ts';
import type { UploadSession } from '../bodies/upload-session.ts';
import { ClientGoneError } from '../errors/http-problem.ts';
import type { RateState } from '../limits/rate-limiter.ts';
import type { BodyKind, Call, Operation } from '../operation.ts';
import { addressKey, clientAddress } from './client-address.ts';

/** The party behind a valid token. */
export interface Caller {
  readonly clientId: string;
  readonly applicationId: string;
  readonly fundIds: readonly string[];
  readonly onlyFundIds?: readonly string[];
  readonly scopes: readonly string[];
  /** Factor of the application's rate limits. */
  readonly multiplier: number;
}

const NO_FILES: readonly ReceivedFile[] = [];
const NO_FORM = new URLSearchParams();
const NO_VALUES = {};

/** One request and its response, with what each middleware finds out for those after it. */
export class RequestState {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  /** Always made here, because an id from the caller might not be unique. */
  readonly requestId: string = randomUUID();
  readonly #trustedHops: number;
  readonly #finished = Promise.withResolvers<void>();
  /** Undefined while none is matched. */
  operation: Operation | undefined = undefined;
  /** State of the bucket that a token was taken from, for the rate headers. */
  rate: RateState | undefined = undefined;
  /** Of a request with a valid token. */
  caller: Caller | undefined = undefined;
  /** Of a request that carries the client's secret. */
  client: Client | undefined = undefined;
  /** How the body is to be read; undefined for an operation without one. */
  kind: BodyKind | undefined = undefined;
  /** The JSON text of the body, not yet parsed. */
  text = '';
  /** The parsed body, valid by the schema of the operation. */
  body: unknown = undefined;
  /** The fields of the form that the token endpoint reads. */
  form: URLSearchParams = NO_FORM;
  uploads: UploadSession | undefined = undefined;
  files: readonly ReceivedFile[] = NO_FILES;
  query: Call['query'] = NO_VALUES;
  headers: Call['headers'] = NO_VALUES;

  constructor(req: IncomingMessage, res: ServerResponse, trustedHops: number) {
    this.req = req;
    this.res = res;
    this.#trustedHops = trustedHops;
  }

  /** Aborted with a ClientGoneError when the connection closes before the answer. */
  get gone(): AbortSignal {
    const { req, res } = this;
    const controller = new AbortController();
    const leave = (): void => controller.abort(new ClientGoneError('closed before its answer'));
    if (res.destroyed || req.socket.destroyed) leave();
    else res.once('close', () => res.writableFinished || leave());
    return controller.signal;
  }

  get addressKey(): string {
    return addressKey(clientAddress(this.req, this.#trustedHops));
  }

  /** Resolves after `finish`. */
  get finished(): Promise<void> {
    return this.#finished.promise;
  }

  /** To be called when the answer is on its way: removes the files that came with the request. */
  async finish(): Promise<void> {
    if (this.uploads) await this.uploads.discard();
    this.#finished.resolve();
  }
}

export const stateOf = (res: Response): RequestState => res.locals['state'] as RequestState;

/** The first middleware of every request. */
export const withState =
  (trustedHops: number, warnOfProxy: (req: IncomingMessage) => void): RequestHandler =>
  (req, res, next) => {
    warnOfProxy(req);
    res.locals['state'] = new RequestState(req, res, trustedHops);
    next();
  };

/** For what comes after `authenticate`. */
export const callerOf = ({ caller }: RequestState): Caller => {
  if (caller === undefined) throw new Error('this operation asks for a token');
  return caller;
};
