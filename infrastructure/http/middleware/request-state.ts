import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isIP } from 'node:net';
import type { Response } from 'express';
import type { Client } from '../../../application/clients/client-registry.ts';
import type { RequestContext } from '../../../application/command-handling/request-context.ts';
import type { ReceivedFile } from '../../../application/ports/document-store.ts';
import type { Logger } from '../../../application/ports/logger.ts';
import type { UploadSession } from '../bodies/uploads.ts';
import { ClientGoneError } from '../errors/http-problem.ts';
import type { RateState } from '../limits/rate-limiter.ts';
import type { Slot } from '../limits/slots.ts';
import type { BodyKind, Call, Operation } from '../operation.ts';

const MAPPED_IPV4 = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;

const withoutZone = (address: string): string => address.split('%', 1)[0] ?? address;

/** First four of the eight groups: a customer of an IPv6 provider owns at least a /64. */
const network64 = (address: string): string => {
  const [head = '', tail] = withoutZone(address).toLowerCase().split('::', 2);
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - left.length - right.length);
  const groups = [...left, ...Array<string>(zeros).fill('0'), ...right].slice(0, 4);
  return `${groups.map((group) => parseInt(group, 16).toString(16)).join(':')}::/64`;
};

/** One name for all addresses that one party is likely to hold: an IPv4 address, or an IPv6 network of 64 bits. */
export const addressKey = (address: string): string => {
  const ipv4 = MAPPED_IPV4.exec(address)?.[1];
  if (ipv4 !== undefined) return ipv4;
  return isIP(address) === 6 ? network64(address) : address;
};

/** Some proxies write the port behind the address, and brackets around one with colons of its own. */
const withoutPort = (text: string): string => text.replace(/^\[([^\]]*)\](?::\d+)?$|^([^:]*):\d+$/, '$1$2');

/**
 * Address of the client. With `hops` trusted proxies in front, those proxies wrote the last `hops` entries of X-Forwarded-For;
 * entries further left may be invented by the client.
 */
export const clientAddress = (req: IncomingMessage, hops: number): string => {
  let address = req.socket.remoteAddress ?? 'unknown';
  if (hops === 0) return address;
  const forwarded = String(req.headers['x-forwarded-for'] ?? '').split(',');
  for (let hop = 0; hop < hops; hop += 1) {
    const claimed = withoutPort(forwarded.pop()?.trim() ?? '');
    if (isIP(claimed) === 0) return address;
    address = claimed;
  }
  return address;
};

/** Warns once when requests come through a proxy although none is trusted: all clients behind it then share one address. */
export const proxyWarning = (hops: number, logger: Logger): ((req: IncomingMessage) => void) => {
  let isOver = hops > 0;
  return (req) => {
    if (isOver || req.headers['x-forwarded-for'] === undefined) return;
    isOver = true;
    logger.warn(
      {},
      'a request came with X-Forwarded-For, but TRUST_PROXY is 0: all clients behind that proxy share the rate limits of its ' +
        'address; set TRUST_PROXY to the number of proxies in front',
    );
  };
};

export interface Caller {
  readonly clientId: string;
  readonly applicationId: string;
  readonly fundIds: readonly string[];
  readonly onlyFundIds?: readonly string[];
  readonly scopes: readonly string[];
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
  operation: Operation | undefined = undefined;
  rate: RateState | undefined = undefined;
  tokens = 0;
  caller: Caller | undefined = undefined;
  client: Client | undefined = undefined;
  kind: BodyKind | undefined = undefined;
  /** The JSON text of the body, not yet parsed. */
  text = '';
  body: unknown = undefined;
  form: URLSearchParams = NO_FORM;
  uploads: UploadSession | undefined = undefined;
  turn: Slot | undefined = undefined;
  aside: RequestContext['aside'] = undefined;
  files: readonly ReceivedFile[] = NO_FILES;
  query: Call['query'] = NO_VALUES;
  headers: Call['headers'] = NO_VALUES;
  strict = false;

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

  get finished(): Promise<void> {
    return this.#finished.promise;
  }

  /** To be called when the answer is on its way: gives up the place of a read, and removes the files that came with the request. */
  async finish(): Promise<void> {
    this.turn?.leave();
    if (this.uploads) await this.uploads.discard();
    this.#finished.resolve();
  }
}

export const stateOf = (res: Response): RequestState => res.locals['state'] as RequestState;

export const withState =
  (trustedHops: number, warnOfProxy: (req: IncomingMessage) => void) =>
  (req: IncomingMessage, res: ServerResponse): RequestState => {
    warnOfProxy(req);
    const state = new RequestState(req, res, trustedHops);
    (res as Response).locals = { state };
    return state;
  };

/** For what comes after `authenticate`. */
export const callerOf = ({ caller }: RequestState): Caller => {
  if (caller === undefined) throw new Error('this operation asks for a token');
  return caller;
};

/** @param signal of a client that may go away, where work is worth abandoning for it */
export const contextOf = (
  { requestId, aside, strict }: RequestState,
  { clientId, applicationId, fundIds, onlyFundIds }: Caller,
  signal?: AbortSignal,
): RequestContext => ({
  requestId,
  clientId,
  applicationId,
  fundIds,
  strict,
  ...(onlyFundIds && { onlyFundIds }),
  ...(signal && { signal }),
  ...(aside && { aside }),
});
