import type { Request, RequestHandler } from 'express';
import { TurnLimit } from '../../support/time.ts';
import { ClientGoneError, unavailable } from '../errors/http-problem.ts';
import { Slots } from '../limits/slots.ts';
import type { SlotBounds } from '../limits/slots.ts';
import { isReplay } from '../operation.ts';
import type { Lines, Operation } from '../operation.ts';
import { refusalFor } from '../requests/parameters.ts';
import { textIn } from '../requests/request-rules.ts';
import { requireToken } from './authentication.ts';
import type { RateLimits } from './authentication.ts';
import type { BodyValidator } from './body-reader.ts';
import type { ErrorHandler } from './error-handler.ts';
import { callerOf, contextOf, stateOf } from './request-state.ts';
import type { RequestState } from './request-state.ts';
import type { Responder } from './responder.ts';

const RETRY_AFTER_S = 1;

/** Of lines under way: enough for a store to commit many at once, few enough to leave it to other requests. */
const LINE_BOUNDS: SlotBounds = {
  application: { places: 16, weight: 16 },
  process: { places: 64, weight: 64 },
  waiting: 10_000,
  waitMs: 30_000,
  leastWeight: 1,
  mostWeight: 1,
  refused: () =>
    unavailable(
      'Too many lines of this application wait, and this one was not begun; send it again.',
      RETRY_AFTER_S,
    ),
};

const linesOf = ({ body }: RequestState, { field }: Lines): readonly unknown[] =>
  (body as Readonly<Record<string, readonly unknown[]>>)[field]!;

/**
 * Takes a token for each line but the first, whose token was taken before the body was read; it goes back with the
 * refusal where the others are not there. @throws HttpProblem `rate_limited`, `validation_error` for more lines than the bucket can hold
 */
export const limitLines =
  ({ bucket, endpoint }: Operation, lines: Lines, rates: RateLimits): RequestHandler =>
  async (_req, res, next) => {
    const state = stateOf(res);
    const { length } = linesOf(state, lines);
    const { limit = Infinity } = state.rate ?? {};
    if (length > limit) {
      const message = `must hold at most ${limit} entries, as many as the rate limit of this application lets through at once`;
      throw refusalFor([{ field: lines.field, code: 'invalid_count', message }]);
    }
    if (bucket !== null && length > 1) {
      const rate = await rates.forCaller(state, callerOf(state), bucket, length - 1);
      requireToken(rate, `${endpoint}, where each of the ${length} lines counts`);
    }
    next();
  };

/** Starts a task for each entry; one that has a name in common with entries before it waits until they have ended. */
const inOrder = <Result>(
  entries: readonly unknown[],
  namesOf: (entry: unknown) => readonly string[],
  task: (entry: unknown, index: number) => Promise<Result>,
): readonly Promise<Result>[] => {
  const last = new Map<string, Promise<Result>>();
  return entries.map((entry, index) => {
    const names = namesOf(entry);
    const before = names.flatMap((name) => last.get(name) ?? []);
    const mine = Promise.allSettled(before).then(() => task(entry, index));
    for (const name of names) last.set(name, mine);
    return mine;
  });
};

/** As it would be answered if it came alone. */
interface LineResult {
  /** From 1. */
  readonly line: number;
  readonly status: number;
  readonly replayed: boolean;
  readonly body: unknown;
}

interface Dependencies {
  readonly validator: BodyValidator;
  readonly errors: ErrorHandler;
  readonly responder: Responder;
}

/**
 * The last middleware of a batch: carries out what comes in one body as if each line came alone, a bounded number at once, giving way to
 * other requests. What was not begun when its client has gone is not begun any more.
 */
export const batches = ({ validator, errors, responder }: Dependencies) => {
  const slots = new Slots(LINE_BOUNDS);
  const turn = new TurnLimit();
  const lineOf = (operation: Operation, { kind }: Lines, state: RequestState) => {
    const { gone, req, query, headers } = state;
    const context = contextOf(state, callerOf(state));
    const common = { context, client: undefined, files: [], params: {}, query, headers, req: req as Request };
    const carriedOut = async (entry: unknown): Promise<Omit<LineResult, 'line'>> => {
      const slot = await slots.enter(context.applicationId, 1, () => gone);
      try {
        await turn.pass();
        gone.throwIfAborted();
        const body = validator.check(state, operation, kind, entry);
        const reply = await operation.run({ ...common, body });
        return { status: reply.status, replayed: isReplay(reply), body: reply.json };
      } finally {
        slot.leave();
      }
    };
    return async (entry: unknown, index: number): Promise<LineResult> => {
      const line = index + 1;
      try {
        return { line, ...(await carriedOut(entry)) };
      } catch (error) {
        if (error instanceof ClientGoneError) throw error;
        const problem = errors.refusalOf(state, error, line);
        return { line, status: problem.status, replayed: false, body: problem.body(state.requestId) };
      }
    };
  };
  return (operation: Operation, lines: Lines): RequestHandler => {
    const namesOf = (entry: unknown): readonly string[] =>
      lines.orderedBy.flatMap((field) => {
        const text = textIn(entry, field);
        return text === undefined ? [] : [`${field} ${text}`];
      });
    return async (_req, res) => {
      const state = stateOf(res);
      const answers = inOrder(linesOf(state, lines), namesOf, lineOf(operation, lines, state));
      // Nothing goes on behind a request that has ended.
      await Promise.allSettled(answers);
      const results = await Promise.all(answers);
      await responder.reply(state, { status: 200, json: { results }, isLong: true });
      await state.finish();
    };
  };
};
