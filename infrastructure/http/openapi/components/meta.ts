import { ERRORS } from '../../errors/error-table.ts';
import { object, ref } from '../../../../application/schemas/schema.ts';
import type { Schema } from '../../../../application/schemas/schema.ts';

const violation = object({
  field: { type: 'string', description: 'Path of the field, such as `installments[2].due_date`.' },
  code: { type: 'string', description: 'Stable name of the rule.' },
  message: { type: 'string', description: 'What the value has to be.' },
});

const error: Schema = {
  ...object(
    {
      error_code: {
        type: 'string',
        enum: Object.keys(ERRORS),
        description: 'Stable; decide on it, not on the text.',
      },
      message: { type: 'string', description: 'For people.' },
      request_id: { type: 'string', format: 'uuid', description: 'The same as X-Request-Id.' },
      details: { type: 'array', items: ref('FieldViolation') },
      retryable: { type: 'boolean', description: 'Whether sending the same request again can help.' },
    },
    ['details'],
  ),
  description: 'Every refusal, of whatever route, looks like this.',
};

/** Errors, tokens and the service about itself. */
export const metaSchemas: Readonly<Record<string, Schema>> = {
  FieldViolation: violation,
  Error: error,
  TokenError: {
    allOf: [ref('Error')],
    ...object({
      error: { type: 'string', description: 'Error name of OAuth 2.0.' },
      error_description: { type: 'string', description: 'For people; the same as `message`.' },
    }),
  },
  TokenRequest: {
    ...object(
      {
        grant_type: {
          type: 'string',
          enum: ['client_credentials'],
          description: 'The only grant there is.',
        },
        client_id: { type: 'string', description: 'Leave it out with HTTP Basic.' },
        client_secret: { type: 'string', description: 'Leave it out with HTTP Basic.' },
      },
      ['client_id', 'client_secret'],
    ),
  },
  Token: object({
    access_token: { type: 'string', description: 'A signed JWT.' },
    token_type: { type: 'string', const: 'Bearer' },
    expires_in: { type: 'integer', minimum: 1, description: 'Seconds.' },
    scope: { type: 'string', description: 'What the token allows, names separated by spaces.' },
  }),
  KeySet: object({
    keys: { type: 'array', items: { type: 'object' }, description: 'JSON Web Keys (RFC 7517).' },
  }),
  Health: object(
    {
      status: { type: 'string', const: 'ok' },
      checks: {
        type: 'object',
        additionalProperties: { type: 'string' },
        description: 'What was looked at, each `ok` or `failing`.',
      },
    },
    ['checks'],
  ),
};
