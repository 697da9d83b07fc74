import type { DeskErrorCode, DomainErrorCode } from '../../../domain/shared/domain-error.ts';

interface ErrorEntry {
  readonly status: number;
  /** Whether the request may succeed when it is simply sent again. */
  readonly retryable?: true;
  readonly meaning: string;
}

/** The only place that assigns an HTTP status to an error code. */
const TABLE = {
  invalid_request: {
    status: 400,
    meaning:
      'The request cannot be read: a path, a header or a body that is not well formed, a name twice in one object, or a missing part.',
  },
  validation_error: {
    status: 400,
    meaning: 'One or more fields break a rule; `details` lists them, the first 100.',
  },
  unknown_field: {
    status: 400,
    meaning:
      'The name of a field is misspelt, or is one of another request that is refused here (`dry_run`, `backing_documents`, `original_proposal_codes`); `details` says what was meant. Any other unknown field is ignored.',
  },
  invalid_query_parameter: {
    status: 400,
    meaning: 'A query parameter does not exist here, or has a value that is not allowed.',
  },
  installment_not_found: { status: 400, meaning: 'The operation has no installment with this code.' },
  invalid_date: { status: 400, meaning: 'A date lies outside the range that the operation allows.' },
  missing_file: { status: 400, meaning: 'A document names a file that was not uploaded.' },
  unreferenced_file: { status: 400, meaning: 'An uploaded file is named by no document.' },
  duplicate_file_name: { status: 400, meaning: 'Two uploaded files carry the same name.' },
  invalid_file: { status: 400, meaning: 'The content of a file is not of an accepted kind.' },
  invalid_document_type: { status: 400, meaning: 'This kind of document cannot be sent here.' },
  invalid_webhook_url: { status: 400, meaning: 'The address cannot receive webhooks.' },
  invalid_event: {
    status: 400,
    meaning: 'The list of events is empty, names an event that does not exist, or holds more than `*`.',
  },
  immutable_field: { status: 400, meaning: 'The body holds a field that cannot be changed.' },
  empty_update: { status: 400, meaning: 'The body changes nothing.' },
  unsupported_grant_type: { status: 400, meaning: 'Only the client_credentials grant is offered.' },
  invalid_scope: { status: 400, meaning: 'A scope does not exist, or is not one of the client.' },
  invalid_client: {
    status: 401,
    meaning: 'Client id and secret do not belong together, or one of them is missing.',
  },
  missing_token: { status: 401, meaning: 'The Authorization header carries no bearer token.' },
  invalid_token: {
    status: 401,
    meaning: 'The token was not issued here, was altered, or its client was revoked.',
  },
  token_expired: { status: 401, meaning: 'The token is too old; fetch a new one.' },
  fund_not_allowed: { status: 403, meaning: 'The fund is not linked to the application.' },
  insufficient_scope: { status: 403, meaning: 'The token lacks the scope that this endpoint asks for.' },
  loan_not_found: { status: 404, meaning: 'The application has no operation with this code.' },
  webhook_not_found: { status: 404, meaning: 'The application has no such webhook.' },
  event_not_found: { status: 404, meaning: 'The application has no such event.' },
  document_not_found: {
    status: 404,
    meaning: 'The operation has no such document, or its borrower was forgotten.',
  },
  not_found: { status: 404, meaning: 'Nothing is served at this path.' },
  method_not_allowed: { status: 405, meaning: 'The path exists, the method does not; see Allow.' },
  not_acceptable: { status: 406, meaning: 'The Accept header excludes the only format on offer.' },
  request_timeout: { status: 408, retryable: true, meaning: 'The request took too long to arrive.' },
  idempotency_conflict: { status: 409, meaning: 'The key was used up by a request with another payload.' },
  installment_already_closed: { status: 409, meaning: 'The installment was settled or prepaid before.' },
  proposal_code_already_used: { status: 409, meaning: 'Another operation has this code.' },
  concurrent_modification: {
    status: 409,
    retryable: true,
    meaning: 'Other requests changed the operation at the same moment; send it again.',
  },
  redelivery_running: {
    status: 409,
    meaning: 'A redelivery of this subscription is still running; `details` has its id.',
  },
  payload_too_large: { status: 413, meaning: 'The body, a file or the number of files is above its limit.' },
  unsupported_media_type: { status: 415, meaning: 'The Content-Type is not one that this endpoint reads.' },
  operation_invalid_state: {
    status: 422,
    meaning: 'The current status of the operation does not allow this.',
  },
  webhook_invalid_state: { status: 422, meaning: 'No subscription is in a state that allows this.' },
  rate_limited: {
    status: 429,
    retryable: true,
    meaning:
      'The bucket is empty, or too many uploads or large bodies are under way; wait as long as Retry-After says.',
  },
  internal_error: { status: 500, meaning: 'An unexpected failure; quote the request id to support.' },
  service_unavailable: {
    status: 503,
    retryable: true,
    meaning:
      'The service cannot answer now, or cannot tell whether it was done; send the same request again.',
  },
} as const satisfies Record<Exclude<DomainErrorCode, DeskErrorCode>, ErrorEntry> &
  Readonly<Record<string, ErrorEntry>>;

export type ErrorCode = keyof typeof TABLE;

export const ERRORS: Readonly<Record<ErrorCode, ErrorEntry>> = TABLE;

export const isErrorCode = (code: string): code is ErrorCode => Object.hasOwn(ERRORS, code);

export const codesByStatus = (codes: Iterable<ErrorCode>): ReadonlyMap<number, readonly ErrorCode[]> => {
  const wanted = new Set<string>(codes);
  const known = Object.keys(ERRORS).filter(isErrorCode);
  return Map.groupBy(
    known.filter((code) => wanted.has(code)),
    (code) => ERRORS[code].status,
  );
};
