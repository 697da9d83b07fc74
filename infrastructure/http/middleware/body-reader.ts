import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Request, RequestHandler } from 'express';
import type { BusinessClock } from '../../../application/ports/clock.ts';
import { MOST_VIOLATIONS, withoutRepetitions } from '../../../application/schemas/document-validators.ts';
import { parseJson } from '../../../application/schemas/parse-json.ts';
import { unaskedFields } from '../../../application/schemas/recogniser.ts';
import { MIB } from '../../../application/support/sized-cache.ts';
import { receiveForm } from '../bodies/form.ts';
import {
  declaredLength,
  hasForeignCharset,
  isEncoded,
  letContinue,
  mediaTypeOf,
  readBody,
  textOf,
  tooLarge,
} from '../bodies/read-body.ts';
import type { UploadArea, UploadSession } from '../bodies/uploads.ts';
import { HttpProblem, tooManyUnderWay } from '../errors/http-problem.ts';
import { Slots } from '../limits/slots.ts';
import type { SlotBounds } from '../limits/slots.ts';
import type { BodyKind, Checks, JsonKind, Operation } from '../operation.ts';
import { refusalFor } from '../requests/parameters.ts';
import { asDraft, requireMatchingFiles } from '../requests/request-rules.ts';
import type { RequestRules } from '../requests/request-rules.ts';
import { callerOf, stateOf } from './request-state.ts';
import type { RequestState } from './request-state.ts';

/** Most bytes of a body that an operation without one ignores. */
const IGNORED_BODY = 1_048_576;

const unsupported = (message: string): HttpProblem => new HttpProblem('unsupported_media_type', message);

const requireBody = (req: Request, { bodies }: Operation, length: number | undefined): BodyKind => {
  const mediaType = mediaTypeOf(req);
  const kind = bodies.find((body) => body.mediaType === mediaType);
  if (length !== undefined && length > (kind ?? largest(bodies)).limit) {
    throw tooLarge('body', 'the body', (kind ?? largest(bodies)).limit);
  }
  const offered = bodies.map((body) => body.mediaType).join(' or ');
  if (kind === undefined) {
    // Nothing was sent: the body is missing rather than of the wrong type.
    if (mediaType === undefined && length === 0) return bodies[0]!;
    throw unsupported(`send the body as ${offered}`);
  }
  if (isEncoded(req)) throw unsupported('send the body uncompressed, without Content-Encoding');
  if (kind.form === undefined && hasForeignCharset(req)) throw unsupported('send the body in UTF-8');
  return kind;
};

const largest = (bodies: readonly BodyKind[]): BodyKind =>
  bodies.reduce((most, body) => (body.limit > most.limit ? body : most));

/** What a media range asks for besides its weight, such as a charset: there is one answer of each type. */
const PARAMETER = /;(?!\s*q=)[^;,]*/gi;
/** A list without elements asks for nothing (RFC 9110, section 5.6.1). */
const EMPTY_LIST = /^[\s,]*$/;

const requireAcceptable = (req: Request, produces: readonly string[]): void => {
  const accept = req.headers.accept;
  if (accept === undefined || accept === '*/*' || produces.includes(accept)) return;
  if (EMPTY_LIST.test(accept)) return;
  req.headers.accept = accept.replace(PARAMETER, '');
  if (req.accepts([...produces]) !== false) return;
  const offered = produces.join(' or ');
  throw new HttpProblem('not_acceptable', `this is answered as ${offered} only; include it in Accept`);
};

/**
 * Refuses what the headers alone show to be wrong, in this order: size, format of the body, format of the answer.
 * @throws HttpProblem `payload_too_large`, `unsupported_media_type`, `not_acceptable`
 */
export const preconditions =
  (operation: Operation): RequestHandler =>
  (req, res, next) => {
    const length = declaredLength(req);
    if (operation.bodies.length > 0) stateOf(res).kind = requireBody(req, operation, length);
    else if (length !== undefined && length > IGNORED_BODY) throw tooLarge('body', 'the body', IGNORED_BODY);
    requireAcceptable(req, operation.produces);
    next();
  };

/** A text of this length takes some milliseconds to parse and check. */
const LARGE_TEXT = 32 * 1024;

/** Weight is bytes in memory, of large texts that have not come in whole; who waits is not read meanwhile. */
export const TEXT_BOUNDS: SlotBounds = {
  application: { places: 64, weight: 16 * MIB },
  process: { places: 512, weight: 128 * MIB },
  waiting: 256,
  waitMs: 10_000,
  leastWeight: LARGE_TEXT,
  mostWeight: IGNORED_BODY,
  refused: () => tooManyUnderWay('large bodies of this application'),
};

export class BodyValidator {
  readonly #clock: Pick<BusinessClock, 'today'>;
  #lastLarge: Promise<void> = Promise.resolve();

  constructor(clock: Pick<BusinessClock, 'today'>) {
    this.#clock = clock;
  }

  /** @throws HttpProblem 400 */
  validate(checks: Checks): RequestHandler {
    return async (_req, res, next) => {
      const state = stateOf(res);
      const { kind, text } = state;
      if (kind !== undefined) {
        if (text.length >= LARGE_TEXT) await this.#turn();
        state.body = this.check(state, checks, kind, parseJson(text, kind.name));
        if (kind.form !== undefined) this.#requireFiles(checks, kind, state);
      }
      next();
    };
  }

  /** A request that was accepted before had its files, so what only its replay may hold is refused when they are not there. */
  #requireFiles(checks: Checks, kind: BodyKind, { body, files }: RequestState): void {
    try {
      const names = checks.fileNames?.(body) ?? [];
      requireMatchingFiles(names, files, checks.mayLackFiles?.(body));
    } catch (error) {
      const violations = kind.validate(body, true);
      throw violations.length > 0 ? refusalFor(violations) : error;
    }
  }

  /** Large texts are checked one a turn of the event loop, so that a small request waits for one of them at most. */
  #turn(): Promise<void> {
    this.#lastLarge = this.#lastLarge.then(() => nextTurn());
    return this.#lastLarge;
  }

  /** What the operation knows of a parsed value. @throws HttpProblem `validation_error`, `unknown_field` with everything that is wrong */
  check(
    { strict }: Pick<RequestState, 'strict'>,
    { crossCheck }: Checks,
    kind: JsonKind,
    value: unknown,
  ): unknown {
    const { value: body, violations: unrecognised } = kind.recognise(value);
    const violations = kind.validate(body);
    const draft = crossCheck && asDraft(body);
    const rules: RequestRules = { strict, today: () => this.#clock.today() };
    const crossed = draft ? crossCheck(draft, rules, kind.name) : [];
    if (unrecognised.length > 0 || violations.length > 0 || crossed.length > 0) {
      const all = [
        ...unrecognised,
        ...(violations.length > 0 ? violations : kind.validate(body, true)),
        ...crossed,
      ];
      throw refusalFor(withoutRepetitions(all).slice(0, MOST_VIOLATIONS));
    }
    return body;
  }
}

const searchOf = (url: string): string => {
  const start = url.indexOf('?');
  return start < 0 ? '' : url.slice(start + 1);
};

/**
 * The query and the published headers, which say how the body is to be checked.
 * @param strict whether that is as in production, whatever they say
 * @throws HttpProblem `invalid_query_parameter`, `validation_error`
 */
export const validateParameters =
  ({ readQuery, readHeaders }: Operation, strict: boolean): RequestHandler =>
  (req, res, next) => {
    const state = stateOf(res);
    if (readQuery) state.query = readQuery(searchOf(req.url));
    if (readHeaders) state.headers = readHeaders(req.headers);
    state.strict = strict || state.headers['X-Sandbox-Strict'] === 'true';
    next();
  };

const changesSomething = ({ method }: RequestState['req']): boolean => method !== 'GET' && method !== 'HEAD';

/** A text without a use is ignored, whatever it is, unless it says that this is a trial. @throws HttpProblem `unknown_field` */
const refuseUnasked = (body: Buffer): void => {
  if (body.length > LARGE_TEXT) return;
  let value: unknown;
  try {
    value = JSON.parse(body.toString('utf8'));
  } catch {
    return;
  }
  const violations = unaskedFields(value);
  if (violations.length > 0) throw refusalFor(violations);
};

/** Receives what a request carries; nothing of it is parsed yet. */
export const bodyReading = (uploads: UploadArea, bounds: SlotBounds = TEXT_BOUNDS) => {
  const texts = new Slots(bounds);
  /** A large one waits for a place among those under way, and is not read before. */
  const bytesOf = async (state: RequestState, limit: number): Promise<Buffer> => {
    const { req, res } = state;
    const weight = declaredLength(req) ?? limit;
    const slot =
      weight > LARGE_TEXT
        ? await texts.enter(callerOf(state).applicationId, weight, () => state.gone)
        : undefined;
    try {
      letContinue(res);
      return await readBody(req, limit);
    } finally {
      slot?.leave();
    }
  };
  /** Waits for a place among the uploads under way; the request is not read before. */
  const session = (state: RequestState): Promise<UploadSession> => {
    const { applicationId } = callerOf(state);
    return uploads.session({
      applicationId,
      declaredBytes: declaredLength(state.req),
      gone: () => state.gone,
    });
  };
  /** JSON, or a form with JSON and files; what comes where nothing is asked for is only looked at. @throws HttpProblem 400, 413, 429 @throws ClientGoneError */
  const read: RequestHandler = async (_req, res, next) => {
    const state = stateOf(res);
    const { kind, req } = state;
    if (kind?.form !== undefined) {
      state.uploads = await session(state);
      letContinue(res);
      const { data, files } = await receiveForm(req, state.uploads, kind.name, kind.form);
      state.text = data;
      state.files = files;
    } else if (kind !== undefined) {
      state.text = textOf(await bytesOf(state, kind.limit), kind.name);
    } else if (changesSomething(req) && mediaTypeOf(req) === 'application/json') {
      refuseUnasked(await bytesOf(state, IGNORED_BODY));
    }
    next();
  };
  /** The form of the token endpoint, which has rules of its own for its fields. @throws HttpProblem 413 @throws ClientGoneError */
  const readForm: RequestHandler = async (_req, res, next) => {
    const state = stateOf(res);
    if (state.kind !== undefined) {
      letContinue(res);
      state.form = new URLSearchParams((await readBody(state.req, state.kind.limit)).toString('utf8'));
    }
    next();
  };
  return { read, readForm };
};
