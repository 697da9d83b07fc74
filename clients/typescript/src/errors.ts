/** Whatever this package throws by itself, but for mistakes of the caller (TypeError). */
export class ReceivablesError extends Error {
  override name = 'ReceivablesError';
  /** Name of the operation, as the description has it: `settleInstallment`. */
  readonly operation: string;
  /** The key that the request was sent with: send it again with this one, never with a new one. */
  readonly idempotency_key: string | undefined;
  /** Whether the request may have been carried out all the same. False: it was not. */
  readonly maybe_done: boolean;

  constructor(message: string, about: About, options?: ErrorOptions) {
    super(message, options);
    this.operation = about.operation;
    this.idempotency_key = about.idempotency_key;
    this.maybe_done = about.maybe_done;
  }
}

/** Which request an error is about. */
export interface About {
  readonly operation: string;
  readonly idempotency_key: string | undefined;
  readonly maybe_done: boolean;
}

export interface Violation {
  readonly field: string;
  readonly code: string;
  readonly message: string;
}

/** What the service answers a request that it refuses. */
export interface RefusalBody {
  readonly error_code: string;
  readonly message: string;
  readonly request_id: string | undefined;
  readonly retryable?: boolean;
  readonly details?: readonly Violation[];
}

/** What is known of a refusal. */
export interface Refused {
  readonly status: number;
  readonly refusal: RefusalBody | undefined;
  /** Seconds. */
  readonly retryAfter: number | undefined;
  /** As the header has it, where the body does not. */
  readonly requestId?: string | undefined;
}

/** The service, or something before it, answered with a refusal. Decide on `error_code`. */
export class ApiError extends ReceivablesError {
  override name = 'ApiError';
  /** Number of the HTTP answer. */
  readonly status: number;
  /** `unexpected_answer` where the answer is none of the service. */
  readonly error_code: string;
  readonly request_id: string | undefined;
  /** Whether sending the same request again can help; this client has done so already, where that is harmless. */
  readonly retryable: boolean;
  /** Each broken rule, with its field. */
  readonly details: readonly Violation[];
  /** Seconds to wait, where the answer named them. */
  readonly retry_after: number | undefined;

  constructor({ status, refusal, retryAfter, requestId }: Refused, about: About) {
    super(refusal?.message ?? `HTTP ${status}, which is no answer of the service`, about);
    this.status = status;
    this.error_code = refusal?.error_code ?? 'unexpected_answer';
    this.request_id = refusal?.request_id ?? requestId;
    this.retryable = refusal?.retryable ?? false;
    this.details = refusal?.details ?? [];
    this.retry_after = retryAfter;
  }
}

/** What is behind a failure: Node's own says only that it failed, and its cause why. */
const innermost = (failure: unknown): string => {
  if (!(failure instanceof Error)) return String(failure);
  return failure.cause === undefined
    ? failure.message || (failure as NodeJS.ErrnoException).code || failure.name
    : innermost(failure.cause);
};

/** No answer came. `cause` says what happened to the connection. */
export class ConnectionError extends ReceivablesError {
  override name = 'ConnectionError';

  constructor(about: About, cause: unknown) {
    const done = about.maybe_done ? 'it may have been carried out all the same' : 'nothing was done';
    super(`${about.operation}: no answer (${innermost(cause)}); ${done}`, about, { cause });
  }
}
