import { setImmediate as nextTurn } from 'node:timers/promises';
import type { RequestHandler } from 'express';
import type { BusinessClock } from '../../../application/ports/clock.ts';
import { MOST_VIOLATIONS, withoutRepetitions } from '../../../application/schemas/document-validators.ts';
import { addDays } from '../../../domain/shared/calendar-date.ts';
import type { CalendarDate } from '../../../domain/shared/calendar-date.ts';
import { declaredLength, letContinue, parseJson, readBody, textOf } from '../bodies/read-body.ts';
import type { UploadArea } from '../bodies/upload-area.ts';
import type { UploadSession } from '../bodies/upload-session.ts';
import type { BodyKind, Handler, Operation } from '../operation.ts';
import { parseForm } from '../requests/client-credentials.ts';
import { refusalFor } from '../requests/parameters.ts';
import { asDraft } from '../requests/request-rules.ts';
import type { RequestRules } from '../requests/request-rules.ts';
import { requireMatchingFiles } from '../requests/uploaded-files.ts';
import { callerOf, stateOf } from './request-state.ts';
import type { RequestState } from './request-state.ts';

/** A text of this length takes some milliseconds to parse and check. */
const LARGE_TEXT = 32 * 1024;

/** In the sandbox invented tax numbers are accepted, and any day of issue. */
export const requestRules = (
  environment: 'sandbox' | 'production',
  clock: Pick<BusinessClock, 'today'>,
): RequestRules => {
  const today = (): CalendarDate => clock.today();
  if (environment === 'sandbox') return { checkDigits: false, today };
  return { checkDigits: true, today, lastIssue: () => addDays(today(), 1) };
};

/** Parses bodies and checks them. */
export class BodyValidator {
  readonly #rules: RequestRules;
  #lastLarge: Promise<void> = Promise.resolve();

  constructor(rules: RequestRules) {
    this.#rules = rules;
  }

  /** @throws HttpProblem 400 */
  validate({ handler }: Operation): RequestHandler {
    return async (_req, res, next) => {
      const state = stateOf(res);
      const { kind, text, files } = state;
      if (kind !== undefined) {
        if (text.length >= LARGE_TEXT) await this.#turn();
        state.body = this.#checked(handler, kind, text);
        if (kind.form !== undefined) requireMatchingFiles(handler.fileNames?.(state.body) ?? [], files);
      }
      next();
    };
  }

  /** Large texts are checked one a turn of the event loop, so that a small request waits for one of them at most. */
  #turn(): Promise<void> {
    this.#lastLarge = this.#lastLarge.then(() => nextTurn());
    return this.#lastLarge;
  }

  /** @throws HttpProblem `validation_error` with everything that is wrong */
  #checked(handler: Handler, kind: BodyKind, text: string): unknown {
    const { value: body, violations: unrecognised } = kind.recognise(parseJson(text, kind.name));
    const violations = [...unrecognised, ...kind.validate(body)];
    const draft = handler.crossCheck && asDraft(body);
    const crossed = draft ? (handler.crossCheck?.(draft, this.#rules, kind.name) ?? []) : [];
    if (violations.length > 0 || crossed.length > 0) {
      throw refusalFor(withoutRepetitions([...violations, ...crossed]).slice(0, MOST_VIOLATIONS));
    }
    return body;
  }
}

const searchOf = (url: string): string => {
  const start = url.indexOf('?');
  return start < 0 ? '' : url.slice(start + 1);
};

/** The query and the published headers. @throws HttpProblem `invalid_query_parameter`, `validation_error` */
export const validateParameters =
  ({ readQuery, readHeaders }: Operation): RequestHandler =>
  (req, res, next) => {
    const state = stateOf(res);
    state.query = readQuery(searchOf(req.url));
    state.headers = readHeaders(req.headers);
    next();
  };

/** Receives what a request carries; nothing of it is parsed yet. */
export class BodyReader {
  readonly #uploads: UploadArea;

  constructor(uploads: UploadArea) {
    this.#uploads = uploads;
  }

  /** JSON, or a form with JSON and files. @throws HttpProblem 400, 413, 429 @throws ClientGoneError */
  readonly read: RequestHandler = async (_req, res, next) => {
    const state = stateOf(res);
    const { kind, req } = state;
    if (kind?.form !== undefined) {
      state.uploads = await this.#session(state);
      letContinue(res);
      const { data, files } = await kind.form.receive(req, state.uploads);
      state.text = data;
      state.files = files;
    } else if (kind !== undefined) {
      letContinue(res);
      state.text = textOf(await readBody(req, kind.limit), kind.name);
    }
    next();
  };

  /** The form of the token endpoint, which has rules of its own for its fields. @throws HttpProblem 413 @throws ClientGoneError */
  readonly readForm: RequestHandler = async (_req, res, next) => {
    const state = stateOf(res);
    if (state.kind !== undefined) {
      letContinue(res);
      state.form = parseForm(await readBody(state.req, state.kind.limit));
    }
    next();
  };

  /** Waits for a place among the uploads under way; the request is not read before. */
  async #session(state: RequestState): Promise<UploadSession> {
    const { applicationId } = callerOf(state);
    const { req, res } = state;
    const gone = new AbortController();
    const leave = (): void => gone.abort();
    res.once('close', leave);
    if (res.destroyed || req.destroyed) leave();
    try {
      const declaredBytes = declaredLength(req);
      return await this.#uploads.session({ applicationId, declaredBytes, signal: gone.signal });
    } finally {
      res.off('close', leave);
    }
  }
}
