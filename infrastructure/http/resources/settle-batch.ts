import {
  ELSEWHERE,
  JUDGED_ALONE,
  component,
  listOf,
  object,
  ref,
  refused,
  refusedBy,
  requestObject,
} from '../../../application/schemas/schema.ts';
import { json } from '../openapi/operation.ts';
import recorded from '../openapi/recorded-answers.json' with { type: 'json' };
import { Refusal } from '../openapi/responses.ts';
import { endpoint } from '../operation.ts';
import { EXAMPLE } from '../../../application/schemas/example-values.ts';
import {
  SettlementReceipt,
  exampleSettlement,
  settleInstallment,
  settlementFields,
} from './settle-installment.ts';

const KIBIBYTE = 1024;

const NO_DRY_RUN = { dry_run: 'is not a field of a batch; try a settlement out at POST /installment/settle' };

const BatchedSettlement = component('BatchedSettlement', {
  ...requestObject(settlementFields),
  [ELSEWHERE]: NO_DRY_RUN,
  description: 'Says that one installment was paid, as a request of its own would without `dry_run`.',
});

const SettlementBatch = component('SettlementBatch', {
  additionalProperties: false,
  ...object({
    settlements: {
      ...listOf(ref(BatchedSettlement), { minItems: 1, maxItems: 500, [JUDGED_ALONE]: true }),
      description: 'Those of one operation are carried out in their order, others side by side.',
      ...refused('invalid_count', 'must be a list of 1 to 500 settlements'),
    },
  }),
  [ELSEWHERE]: {
    ...NO_DRY_RUN,
    idempotency_key: 'is not a field of a batch; each settlement has a key of its own',
  },
  ...refusedBy({
    additionalProperties: { code: 'unknown', message: 'is not a field here; there is settlements' },
  }),
});

const SettlementResult = component(
  'SettlementResult',
  object({
    line: {
      type: 'integer',
      minimum: 1,
      maximum: 500,
      description: 'Which settlement of the batch, from 1.',
    },
    status: {
      type: 'integer',
      description: 'What `POST /installment/settle` would have answered it with.',
      examples: [200],
    },
    replayed: { type: 'boolean', description: 'Whether it had been accepted before under its key.' },
    body: {
      oneOf: [ref(SettlementReceipt), ref(Refusal)],
      description: 'The receipt, or why it was refused.',
    },
  }),
);

const SettlementResults = component(
  'SettlementResults',
  object({ results: listOf(ref(SettlementResult), { description: 'In the order of the batch.' }) }),
);

const OTHER = 'OP-2026-000999';

export const exampleBatch = {
  settlements: [
    exampleSettlement,
    { ...exampleSettlement, originator_proposal_code: OTHER, idempotency_key: `${OTHER}-001` },
  ],
};

const sampleBatch = {
  settlements: [
    exampleSettlement,
    {
      ...exampleSettlement,
      installment_code: '002',
      settled_at: '2026-03-15',
      settled_value: 950.5,
      idempotency_key: `${EXAMPLE.code}-002`,
    },
  ],
};

export const settleBatch = endpoint<unknown>({
  id: 'settleBatch',
  request: 'POST /installment/settle/batch',
  repeatable: true,
  summary: 'Report that several installments were paid',
  description:
    'Up to 500 settlements, each carried out as if it came alone to `POST /installment/settle`, where its idempotency key counts ' +
    'too: none waits for another operation, none fails with another, and each is recorded for good by itself. `results` says in ' +
    'the order of the batch how each would have been answered; the answer as a whole is 200 whatever stands there. Where no ' +
    'answer comes, send the batch again: what had been recorded is a replay. A settlement whose fields are wrong is refused in ' +
    'its line; a body that is no batch is refused as a whole, and nothing is done. Each line takes a token of the rate limit; ' +
    'where not all of them are there, the batch is 429 and none is taken.',
  access: 'loans:write',
  bucket: 'settle',
  sandboxParameters: ['SandboxStrict'],
  body: { schema: SettlementBatch, example: exampleBatch, sample: sampleBatch, limit: 512 * KIBIBYTE },
  lines: {
    field: 'settlements',
    schema: BatchedSettlement,
    orderedBy: ['originator_proposal_code', 'idempotency_key'],
  },
  success: [json(200, 'What became of each settlement.', SettlementResults, recorded.batch)],
  handler: settleInstallment.handler,
});
