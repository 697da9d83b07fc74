import type { Request, Response } from 'express';
import type { RequestWatch } from '../../../application/ports/request-watch.ts';
import type { RequestContext } from '../../../application/request-context.ts';
import { HttpProblem } from '../errors/http-problem.ts';
import type { RateState } from '../limits/rate-limiter.ts';
import { requireScope } from './authentication.ts';
import type { Authentication, Caller } from './authentication.ts';
import type { ClientAdmission } from './client-admission.ts';
import { Exchange } from './request-state.ts';
import type { BodyKind, Operation } from '../operation.ts';
import { checkHeaders } from './preconditions.ts';
import { tooManyRequests } from './rate-gate.ts';
import type { RateGate } from './rate-gate.ts';
import { NOTHING } from './body-reader.ts';
import type { Contents, Reception } from './body-reader.ts';
import { UNMATCHED } from './error-handler.ts';
import type { Refusals } from './error-handler.ts';
import type { Responder } from './responder.ts';

export interface DispatcherDependencies {
  readonly authentication: Authentication;
  readonly admission: ClientAdmission;
  readonly gate: RateGate;
  readonly reception: Reception;
  readonly responder: Responder;
  readonly refusals: Refusals;
  readonly trustedHops: number;
  readonly warnOfProxy: (req: Request) => void;
  readonly watch: RequestWatch;
}

/** Takes a request through its steps; the order in which refusals win over each other is the order of `#serve`. */
export class Dispatcher {
  readonly #deps: DispatcherDependencies;

  constructor(dependencies: DispatcherDependencies) {
    this.#deps = dependencies;
  }

  async dispatch(operation: Operation, req: Request, res: Response): Promise<void> {
    const exchange = this.#exchange(req, res);
    await this.#deps.watch.run(watched(exchange, operation.id), async () => {
      try {
        await this.#serve(operation, req, exchange);
      } catch (error) {
        await this.#deps.refusals.answer(exchange, error, operation);
      } finally {
        if (exchange.uploads) await exchange.uploads.discard();
      }
    });
  }

  /** Answers a request that no operation matches: unknown path, other method, or a path that cannot be decoded. */
  async refuse(req: Request, res: Response, error: unknown): Promise<void> {
    const exchange = this.#exchange(req, res);
    await this.#deps.watch.run(watched(exchange, undefined), () =>
      this.#deps.refusals.answer(exchange, error, undefined),
    );
  }

  /** Answers OPTIONS, which is asked without a token. */
  async allow(req: Request, res: Response, methods: string): Promise<void> {
    const exchange = this.#exchange(req, res);
    await this.#deps.refusals.noteRate(exchange, undefined);
    await this.#deps.responder.reply(exchange, { status: 204, headers: ['Allow', methods] });
  }

  #exchange(req: Request, res: Response): Exchange {
    this.#deps.warnOfProxy(req);
    return new Exchange(req, res, this.#deps.trustedHops);
  }

  async #serve(operation: Operation, req: Request, exchange: Exchange): Promise<void> {
    if (req.headers.host === undefined && req.httpVersionMinor === 1) {
      throw new HttpProblem('invalid_request', 'the header Host is missing');
    }
    const kind = checkHeaders(req, operation);
    const context = await this.#admit(operation, exchange);
    const { body, files, client } = kind ? await this.#receive(operation, kind, exchange) : NOTHING;
    const query = operation.readQuery(searchOf(req.url));
    const headers = operation.readHeaders(req.headers);
    const params = req.params as Record<string, string | undefined>;
    const reply = await operation.handler.run({ context, client, body, files, params, query, headers, req });
    await this.#deps.responder.reply(exchange, reply);
  }

  /** @throws HttpProblem 401, 403, 429 */
  async #admit(operation: Operation, exchange: Exchange): Promise<RequestContext | undefined> {
    const { access, bucket, endpoint } = operation;
    if (access === 'client_credentials' || bucket === null) return undefined;
    if (access === 'public') {
      requireToken(await this.#deps.gate.forAddress(exchange, bucket), endpoint);
      return undefined;
    }
    const caller = await this.#identify(operation, exchange);
    requireScope(caller, access);
    requireToken(await this.#deps.gate.forCaller(exchange, caller, bucket), endpoint);
    const { clientId, applicationId, fundIds, onlyFundIds } = caller;
    exchange.applicationId = applicationId;
    // Only what files cost is worth giving up; watching every connection is not.
    const signal = operation.bodies.some(({ form }) => form) ? exchange.gone : undefined;
    return {
      requestId: exchange.requestId,
      clientId,
      applicationId,
      fundIds,
      ...(onlyFundIds && { onlyFundIds }),
      ...(signal && { signal }),
    };
  }

  /** A guess at a token costs its address a token of the bucket; an address without any is not even told that it was wrong. */
  async #identify({ bucket, endpoint }: Operation, exchange: Exchange): Promise<Caller> {
    try {
      return await this.#deps.authentication.identify(exchange.req);
    } catch (error) {
      const unauthorized = error instanceof HttpProblem && error.status === 401;
      if (unauthorized)
        requireToken(await this.#deps.gate.forAddress(exchange, bucket ?? UNMATCHED), endpoint);
      throw error;
    }
  }

  async #receive(operation: Operation, kind: BodyKind, exchange: Exchange): Promise<Contents> {
    const { admission, reception } = this.#deps;
    if (operation.access !== 'client_credentials') return reception.receive(operation, kind, exchange);
    // Who asks stands in the form.
    const form = await reception.receiveForm(kind, exchange);
    return { ...NOTHING, client: await admission.admit(exchange, form, operation.endpoint) };
  }
}

const watched = ({ requestId, req, res }: Exchange, operation: string | undefined) => {
  const { traceparent } = req.headers;
  return {
    requestId,
    operation,
    method: req.method ?? '',
    traceparent: typeof traceparent === 'string' ? traceparent : undefined,
    status: () => (res.headersSent ? res.statusCode : undefined),
  };
};

/** @throws HttpProblem `rate_limited` */
const requireToken = (state: RateState, endpoint: string): void => {
  if (!state.allowed) throw tooManyRequests(endpoint, state);
};

const searchOf = (url: string): string => {
  const start = url.indexOf('?');
  return start < 0 ? '' : url.slice(start + 1);
};
