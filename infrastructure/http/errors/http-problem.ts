import { UnreadableEventError } from '../../../application/event-codec/fields.ts';
import { OperationQuarantinedError, ReadModelBehindError } from '../../../application/loans/read-loan.ts';
import { FeedStoppedError } from '../../../application/publication/feed.ts';
import { BusyError, InspectorAwayError, OverShareError } from '../../../application/ports/busy-error.ts';
import {
  ConcurrencyError,
  OutcomeUnknownError,
  StoreUnavailableError,
} from '../../../application/ports/event-store.ts';
import { DomainError } from '../../../domain/shared/domain-error.ts';
import type { FieldViolation } from '../../../domain/shared/domain-error.ts';
import { machineTrouble } from '../../support/machine-trouble.ts';
import { ERRORS, isErrorCode } from './error-table.ts';
import type { ErrorCode } from './error-table.ts';

/** A refusal as it will be sent. `headers` is flat: name, value, name, value. */
export class HttpProblem extends Error {
  override readonly name = 'HttpProblem';
  readonly code: ErrorCode;
  readonly status: number;
  readonly details: readonly FieldViolation[];
  readonly headers: readonly string[];

  constructor(
    code: ErrorCode,
    message: string,
    details: readonly FieldViolation[] = [],
    headers: readonly string[] = [],
  ) {
    super(message);
    this.code = code;
    this.status = ERRORS[code].status;
    this.details = details;
    this.headers = headers;
  }

  body(requestId: string): object {
    return {
      error_code: this.code,
      message: this.message,
      request_id: requestId,
      ...(this.details.length > 0 && { details: this.details }),
      retryable: ERRORS[this.code].retryable === true,
    };
  }
}

/** The client closed the connection before its answer. */
export class ClientGoneError extends Error {
  override readonly name = 'ClientGoneError';
}

export const unavailable = (message: string, retryAfterSeconds: number): HttpProblem =>
  new HttpProblem('service_unavailable', message, [], ['Retry-After', String(retryAfterSeconds)]);

export const rateLimited = (message: string, retryAfterSeconds: number): HttpProblem =>
  new HttpProblem('rate_limited', message, [], ['Retry-After', String(retryAfterSeconds)]);

const UNDER_WAY_S = 5;

/** More than may be under way at once. @param what of it, in the plural */
export const tooManyUnderWay = (what: string): HttpProblem =>
  rateLimited(
    `Too many ${what} are under way; wait ${UNDER_WAY_S} seconds, and send fewer at once`,
    UNDER_WAY_S,
  );

const UNREADABLE =
  'Something that was recorded of this operation cannot be read until the operators of the service have seen to it; send the same request again then. Other operations are not affected.';

/** What passes by itself, with the seconds after which to try again; of two kinds that fit, the first. */
const PASSING: readonly (readonly [abstract new (...given: never[]) => Error, number, string])[] = [
  [
    OutcomeUnknownError,
    1,
    'It is not known whether the request took effect; send the same request again to find out.',
  ],
  [StoreUnavailableError, 5, 'The service cannot store anything right now.'],
  [
    BusyError,
    1,
    'More of this kind is under way than can be, and nothing was done; send the same request again, and fewer at once.',
  ],
  [
    InspectorAwayError,
    10,
    'Uploaded files cannot be checked right now, and nothing was stored; send the same request again in 10 seconds, and tell the operators of the service if it goes on.',
  ],
  [
    OperationQuarantinedError,
    60,
    'The latest change of this operation was recorded but cannot be shown until the operators of the service release it; they are told. Other operations are not affected.',
  ],
  [
    FeedStoppedError,
    60,
    'The next event of this application was recorded but cannot be read until the operators of the service have seen to it; none is passed over, and other applications are not affected.',
  ],
  [ReadModelBehindError, 1, 'The latest change cannot be read yet.'],
  [UnreadableEventError, 60, UNREADABLE],
];

/** The refusal that stands for an error; undefined for an unexpected error. */
export const problemOf = (error: unknown): HttpProblem | undefined => {
  if (error instanceof HttpProblem) return error;
  if (error instanceof DomainError && isErrorCode(error.code))
    return new HttpProblem(error.code, error.message, error.details);
  if (error instanceof ConcurrencyError)
    return new HttpProblem(
      'concurrent_modification',
      'Other requests changed this operation at the same time; send the request again.',
    );
  if (error instanceof OverShareError) {
    const { message, retryAfterSeconds } = error;
    const told = `${message[0]?.toUpperCase()}${message.slice(1)}; wait ${retryAfterSeconds} seconds`;
    return rateLimited(told, retryAfterSeconds);
  }
  const passing = PASSING.find(([kind]) => error instanceof kind);
  if (passing) return unavailable(passing[2], passing[1]);
  if (machineTrouble(error) !== undefined)
    return unavailable('The service cannot take this right now; send the same request again.', 5);
  // Of a path that the router cannot percent-decode.
  if (error instanceof URIError)
    return new HttpProblem('invalid_request', 'The path is not validly percent-encoded.');
  return undefined;
};

/** The name that OAuth 2.0 (RFC 6749, section 5.2) has for a refusal of the token endpoint, or the nearest one. */
export const oauthError = (code: ErrorCode): string => {
  if (code === 'invalid_client' || code === 'unsupported_grant_type' || code === 'invalid_scope') return code;
  if (code === 'rate_limited' || code === 'service_unavailable') return 'temporarily_unavailable';
  return ERRORS[code].status >= 500 ? 'server_error' : 'invalid_request';
};

/** In the characters that OAuth 2.0 has for an `error_description` (RFC 6749, section 5.2; RFC 6750, section 3). */
export const oauthDescription = (message: string): string =>
  message.replace(/[^\x20-\x21\x23-\x5b\x5d-\x7e]/gu, '?');
