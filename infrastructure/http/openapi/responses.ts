import { component, object, ref, schemasOf } from '../../../application/schemas/schema.ts';
import type { Schema } from '../../../application/schemas/schema.ts';
import { ERRORS, codesByStatus } from '../errors/error-table.ts';
import type { ErrorCode } from '../errors/error-table.ts';
import { oauthDescription, oauthError } from '../errors/http-problem.ts';
import { ALWAYS, RATE_HEADERS, errorHeaders } from './components/headers.ts';
import recorded from './recorded-answers.json' with { type: 'json' };

const FieldViolation = component(
  'FieldViolation',
  object({
    field: { type: 'string', description: 'Path of the field, such as `installments[2].due_date`.' },
    code: { type: 'string', description: 'Stable name of the rule.' },
    message: { type: 'string', description: 'What the value has to be.' },
  }),
);

export const Refusal = component('Error', {
  ...object(
    {
      error_code: {
        type: 'string',
        enum: Object.keys(ERRORS),
        description: 'Stable; decide on it, not on the text.',
      },
      message: { type: 'string', description: 'For people.' },
      request_id: { type: 'string', format: 'uuid', description: 'The same as X-Request-Id.' },
      details: { type: 'array', items: ref(FieldViolation) },
      retryable: { type: 'boolean', description: 'Whether sending the same request again can help.' },
    },
    ['details'],
  ),
  description: 'Every refusal, of whatever route, looks like this.',
});

const TokenError = component('TokenError', {
  allOf: [ref(Refusal)],
  ...object({
    error: { type: 'string', description: 'Error name of OAuth 2.0.' },
    error_description: {
      type: 'string',
      description:
        'For people: `message`, with `?` for each character that OAuth 2.0 does not allow here (double quotes, backslashes, control characters and what is not ASCII).',
    },
  }),
});

export const errorSchemas = schemasOf(FieldViolation, Refusal, TokenError);

interface ErrorShape {
  readonly headers: Schema;
  readonly schema: 'Error' | 'TokenError';
}

const EXAMPLE_REQUEST_ID = '0b5f6b52-9a3e-4c55-8f0b-7a4f0f6b9c1d';
const STANDARD: ErrorShape = { headers: { ...ALWAYS, ...RATE_HEADERS }, schema: 'Error' };

/** Refusals that look the same at several operations; published once. */
const SHARED = {
  InvalidRequest: ['invalid_request'],
  InvalidQuery: ['invalid_request', 'invalid_query_parameter'],
  Unauthorized: ['missing_token', 'invalid_token', 'token_expired'],
  Forbidden: ['insufficient_scope'],
  FundForbidden: ['fund_not_allowed', 'insufficient_scope'],
  NotFound: ['not_found'],
  LoanNotFound: ['loan_not_found'],
  WebhookNotFound: ['webhook_not_found'],
  MethodNotAllowed: ['method_not_allowed'],
  NotAcceptable: ['not_acceptable'],
  KeyConflict: ['idempotency_conflict', 'concurrent_modification'],
  PayloadTooLarge: ['payload_too_large'],
  UnsupportedMediaType: ['unsupported_media_type'],
  OperationInvalidState: ['operation_invalid_state'],
  WebhookInvalidState: ['webhook_invalid_state'],
  RateLimited: ['rate_limited'],
  InternalError: ['internal_error'],
  ServiceUnavailable: ['service_unavailable'],
} as const satisfies Record<string, readonly ErrorCode[]>;

interface Told {
  readonly message: string;
  readonly details?: readonly object[];
}

/** What the service answered to a request of this kind; a test compares. */
const told = (code: ErrorCode, codes: readonly ErrorCode[], shape: ErrorShape): Told => {
  const said: Readonly<Record<string, Told>> = recorded.refusals;
  const ofToken = shape.schema === 'TokenError' ? said[`${code}_of_token`] : undefined;
  if (ofToken) return ofToken;
  if (code === 'invalid_request' && !codes.includes('validation_error'))
    return recorded.refusals.invalid_request_of_path;
  return said[code] ?? { message: ERRORS[code].meaning };
};

const exampleOf = (code: ErrorCode, codes: readonly ErrorCode[], shape: ErrorShape): Schema => {
  const { message, details } = told(code, codes, shape);
  return {
    ...(shape.schema === 'TokenError' && {
      error: oauthError(code),
      error_description: oauthDescription(message),
    }),
    error_code: code,
    message,
    request_id: EXAMPLE_REQUEST_ID,
    ...(details && { details }),
    retryable: ERRORS[code].retryable === true,
  };
};

const responseOf = (status: number, codes: readonly ErrorCode[], shape: ErrorShape): Schema => ({
  description: codes.map((code) => `\`${code}\`: ${ERRORS[code].meaning}`).join('\n\n'),
  headers: { ...shape.headers, ...errorHeaders(status) },
  content: {
    'application/json': {
      schema: { allOf: [ref(shape.schema)], properties: { error_code: { enum: codes } } },
      examples: Object.fromEntries(codes.map((code) => [code, { value: exampleOf(code, codes, shape) }])),
    },
  },
});

const nameOf = (codes: readonly ErrorCode[]): string | undefined =>
  Object.entries(SHARED).find(([, shared]) => shared.join() === codes.join())?.[0];

export const responseComponents: Readonly<Record<string, Schema>> = Object.fromEntries(
  Object.entries(SHARED).map(([name, codes]) => [name, responseOf(ERRORS[codes[0]].status, codes, STANDARD)]),
);

export const errorResponses = (codes: readonly ErrorCode[], shape: ErrorShape): Schema => {
  const standard = shape.schema === 'Error' && 'X-RateLimit-Limit' in shape.headers;
  const responses = [...codesByStatus(codes)].map(([status, group]) => {
    const shared = standard ? nameOf(group) : undefined;
    const response = shared ? { $ref: `#/components/responses/${shared}` } : responseOf(status, group, shape);
    return [String(status), response];
  });
  return Object.fromEntries(responses) as Schema;
};
