import type { ErrorRequestHandler, RequestHandler } from 'express';
import type { RequestWatch, WatchedRequest } from '../../../application/ports/observation.ts';
import type { Operation } from '../operation.ts';
import { stateOf } from './request-state.ts';
import type { RequestState } from './request-state.ts';

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

/** Counts, times and traces the requests of an operation. */
export const observed =
  (watch: RequestWatch, operation: Operation): RequestHandler =>
  (_req, res, next) => {
    const state = stateOf(res);
    state.operation = operation;
    observe(watch, state, next);
  };

/** The same for requests that no operation matches: an unknown path, another method, or a path that cannot be decoded. */
export const observedUnmatched =
  (watch: RequestWatch): ErrorRequestHandler =>
  (error: unknown, _req, res, next) => {
    const state = stateOf(res);
    if (state.operation !== undefined) next(error);
    else observe(watch, state, () => next(error));
  };
