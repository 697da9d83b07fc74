import type { RequestHandler } from 'express';
import { MIB, sizedCache } from '../../../application/support/sized-cache.ts';
import { rateLimited, unavailable } from '../errors/http-problem.ts';
import type { Operation } from '../operation.ts';
import { callerOf, stateOf } from './request-state.ts';
import type { RequestState } from './request-state.ts';
import { handle } from './responder.ts';
import type { Responder } from './responder.ts';

const RETRY_AFTER_S = 1;
const HEADER = 'X-Sandbox-Fail';
/** Of bodies that name no key: what their requests are repeated by. */
const KEYS = ['originator_proposal_code', 'original_proposal_code', 'original_proposal_codes', 'documents'];
/** Bytes of what is remembered beside its key. */
const ENTRY_BYTES = 60;

const keyOf = (body: Readonly<Record<string, unknown>>): string =>
  JSON.stringify(body['idempotency_key'] ?? KEYS.map((name) => body[name]));

const cut = ({ req }: RequestState): void => void req.socket.destroy();

const unanswered = () =>
  unavailable('This failure was asked for; send the same request again.', RETRY_AFTER_S);

const limit = ({ endpoint }: Operation): never => {
  const message = `${endpoint} was asked to fail as if there were too many requests; wait ${RETRY_AFTER_S} second`;
  throw rateLimited(message, RETRY_AFTER_S);
};

/** Failures that a request to a sandbox asks for: once for each key of an application, so that the same request then passes. */
export const sandboxFailures = (responder: Responder): ((operation: Operation) => RequestHandler) => {
  const made = sizedCache<string>(MIB, () => ENTRY_BYTES);
  /** Whether it has yet to fail: never what is only tried, and everything else once. */
  const isFirst = ({ endpoint }: Operation, state: RequestState): boolean => {
    const body = state.body as Readonly<Record<string, unknown>>;
    if (body['dry_run'] === true) return false;
    const key = `${callerOf(state).applicationId} ${endpoint} ${keyOf(body)}`;
    if (made.has(key)) return false;
    made.set(key, 'made');
    return true;
  };
  return (operation) => {
    const passes = handle(operation, responder);
    if (!operation.readHeaders) return passes;
    const loses = handle(operation, { reply: async () => Promise.reject(unanswered()) });
    const cutsAfter = handle(operation, { reply: async (state) => cut(state) });
    const fails = async (asked: string, ...[req, res, next]: Parameters<RequestHandler>) => {
      const state = stateOf(res);
      if (!isFirst(operation, state)) return passes(req, res, next);
      switch (asked) {
        case '429':
          return limit(operation);
        case '503':
          throw unanswered();
        case '503-after':
          return loses(req, res, next);
        case 'cut':
          cut(state);
          return state.finish();
        default:
          return cutsAfter(req, res, next);
      }
    };
    return (req, res, next) => {
      const asked = stateOf(res).headers[HEADER];
      return asked === undefined ? passes(req, res, next) : fails(asked, req, res, next);
    };
  };
};
