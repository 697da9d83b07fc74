import { component, object, ref, schemasOf } from '../../../../application/schemas/schema.ts';
import { ERRORS } from '../../errors/error-table.ts';

const FieldViolation = component(
  'FieldViolation',
  object({
    field: { type: 'string', description: 'Path of the field, such as `installments[2].due_date`.' },
    code: { type: 'string', description: 'Stable name of the rule.' },
    message: { type: 'string', description: 'What the value has to be.' },
  }),
);

const Refusal = component('Error', {
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
    error_description: { type: 'string', description: 'For people; the same as `message`.' },
  }),
});

/** How every request is refused. */
export const errorSchemas = schemasOf(FieldViolation, Refusal, TokenError);
