import type { RequestHandler } from 'express';
import type { RequestContext } from '../../../application/command-handling/request-context.ts';
import { unavailable } from '../errors/http-problem.ts';
import type { SlotBounds, Slots } from '../limits/slots.ts';
import type { Operation } from '../operation.ts';
import { callerOf, stateOf } from './request-state.ts';
import type { RequestState } from './request-state.ts';

const RETRY_AFTER_S = 5;
/** Of the sixteen that an application may have under way a list counts for four. */
const LIST_WEIGHT = 4;

export const READ_BOUNDS: SlotBounds = {
  application: { places: 16, weight: 16 },
  process: { places: 128, weight: 128 },
  waiting: 2_000,
  waitMs: 10_000,
  leastWeight: 1,
  mostWeight: LIST_WEIGHT,
  refused: () =>
    unavailable('Too many reads of this application are under way; send fewer at once.', RETRY_AFTER_S),
};

/** Whether an operation reads what may be long; documents are sent piece by piece anyway and have a bound of their own. */
export const isLongRead = ({ method, access, produces }: Operation): boolean =>
  method === 'GET' && access !== 'public' && produces.includes('application/json');

const weightOf = ({ path }: Operation): number => (path.endsWith('}') ? 1 : LIST_WEIGHT);

/**
 * Lets the reads of applications take turns: each has a bounded number under way, from the first row that is read to the last byte sent.
 * @throws HttpProblem `service_unavailable` @throws ClientGoneError
 */
export const takeTurn = (operation: Operation, reads: Slots): RequestHandler => {
  const weight = weightOf(operation);
  return async (_req, res, next) => {
    const state = stateOf(res);
    const enter = async (): Promise<void> => {
      state.turn = await reads.enter(callerOf(state).applicationId, weight, () => state.gone);
    };
    await enter();
    state.aside = aside(state, enter);
    next();
  };
};

/** Others may go while this one waits for something that costs nothing. */
const aside =
  (state: RequestState, enter: () => Promise<void>): NonNullable<RequestContext['aside']> =>
  async (wait) => {
    state.turn?.leave();
    const value = await wait();
    await enter();
    return value;
  };
