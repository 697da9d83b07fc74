import type { RequestHandler } from 'express';
import type { RequestContext } from '../../../application/request-context.ts';
import type { Operation } from '../operation.ts';
import type { Caller, RequestState } from './request-state.ts';
import { stateOf } from './request-state.ts';
import type { Responder } from './responder.ts';

const contextOf = (
  { requestId }: RequestState,
  { clientId, applicationId, fundIds, onlyFundIds }: Caller,
  signal: AbortSignal | undefined,
): RequestContext => ({
  requestId,
  clientId,
  applicationId,
  fundIds,
  ...(onlyFundIds && { onlyFundIds }),
  ...(signal && { signal }),
});

/** The last middleware of an operation: calls its handler and sends the reply. */
export const handle = ({ handler, bodies }: Operation, responder: Responder): RequestHandler => {
  // Watching the connection costs something; only work on files is worth abandoning when the client has gone.
  const carriesFiles = bodies.some(({ form }) => form);
  return async (req, res) => {
    const state = stateOf(res);
    const { caller, client, body, files, query, headers } = state;
    const context = caller && contextOf(state, caller, carriesFiles ? state.gone : undefined);
    const params = req.params as Record<string, string | undefined>;
    const reply = await handler.run({ context, client, body, files, params, query, headers, req });
    await responder.reply(state, reply);
    await state.finish();
  };
};
