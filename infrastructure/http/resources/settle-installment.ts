import type { AskedSettlement, SettlementReceipt as Receipt } from '../../../application/loans/payments.ts';
import type { Loans } from '../../../application/loans/loans.ts';
import {
  component,
  ref,
  requestObject,
  ELSEWHERE,
  JUDGED_ALONE,
  listOf,
  object,
  refused,
  refusedBy,
} from '../../../application/schemas/schema.ts';
import type { TypeOf } from '../../../application/schemas/schema.ts';
import {
  Amount,
  Balance,
  CalendarDate,
  IdempotencyKey,
  InstallmentCode,
  PaymentMethod,
  ProposalCode,
  Timestamp,
} from '../../../application/schemas/values.ts';
import { centsFromAmount } from '../../../domain/shared/money.ts';
import {
  constant,
  fieldsOf,
  named,
  namedAmount,
  namedList,
  shown,
} from '../../../application/schemas/shown-fields.ts';
import { endpoint } from '../operation.ts';
import { EXAMPLE } from '../../../application/schemas/example-values.ts';
import { dryRun, QUOTED_INSTALLMENT, QUOTED_OPERATION, receiptOrQuote } from './quotes.ts';
import { json } from '../openapi/operation.ts';
import recorded from '../openapi/recorded-answers.json' with { type: 'json' };
import { Refusal } from '../openapi/responses.ts';

const settlementFields = {
  originator_proposal_code: ref(ProposalCode),
  installment_code: ref(InstallmentCode),
  settled_at: { ...ref(CalendarDate), description: 'Day on which the borrower paid.' },
  settled_value: { ...ref(Amount), description: 'What came in, whether less or more than scheduled.' },
  payment_method: ref(PaymentMethod),
  idempotency_key: ref(IdempotencyKey),
} as const;

const Settlement = component('Settlement', {
  ...requestObject({ ...settlementFields, dry_run: dryRun }, ['dry_run']),
  description: 'Says that one installment was paid.',
});
type Settlement = TypeOf<typeof Settlement>;

export const exampleSettlement = {
  originator_proposal_code: EXAMPLE.code,
  installment_code: '001',
  settled_at: '2026-02-15',
  settled_value: 950.0,
  payment_method: 'pix',
  idempotency_key: `${EXAMPLE.code}-001`,
};

const inputOf = (body: Settlement): AskedSettlement => ({
  code: body.originator_proposal_code,
  installmentCode: body.installment_code,
  settledAt: body.settled_at,
  settledValue: centsFromAmount(body.settled_value),
  paymentMethod: body.payment_method,
  idempotencyKey: body.idempotency_key,
});

const RECEIPT = fieldsOf<Receipt>()({
  originator_proposal_code: shown(ref(ProposalCode), ({ code }) => code, EXAMPLE.code),
  installment_code: named(ref(InstallmentCode), '001'),
  status: constant('settled'),
  settled_at: named(ref(CalendarDate), '2026-02-15'),
  settled_value: namedAmount(ref(Amount), 950.0),
  difference: namedAmount(
    {
      ...ref(Balance),
      description:
        'What was missing to the scheduled value, 0.00 where nothing was. It is owed no longer, and cannot be reported later.',
      examples: [50.0],
    },
    0.0,
  ),
  surplus: namedAmount(
    {
      ...ref(Balance),
      description: 'What came in beyond the scheduled value, as charges; 0.00 where nothing did.',
      examples: [0.0],
    },
    0.0,
  ),
  processed_at: named(ref(Timestamp), '2026-02-15T15:04:05.000Z'),
});

type Quote = Awaited<ReturnType<Loans['quoteSettlement']>>;

const QUOTE = fieldsOf<Quote>()({
  ...QUOTED_OPERATION,
  installment_code: named(ref(InstallmentCode)),
  settled_at: named(ref(CalendarDate)),
  settled_value: namedAmount(ref(Amount)),
  lines: namedList(
    'The installment that would be settled.',
    fieldsOf<Quote['lines'][number]>()({
      ...QUOTED_INSTALLMENT,
      scheduled_value: namedAmount({ ...ref(Balance), description: 'What it owes on its due date.' }),
      settled_value: namedAmount(ref(Amount)),
      difference: namedAmount({
        ...ref(Balance),
        description: 'What would be missing, and would be told as underpaid.',
      }),
      surplus: namedAmount({ ...ref(Balance), description: 'What would come in on top, as charges.' }),
      late_days: named({ type: 'integer', minimum: 0, description: 'Days after the due date.' }),
    }),
  ),
  calculated_at: named(ref(Timestamp)),
});

const ANSWER = receiptOrQuote('Settlement', {
  receipt: RECEIPT,
  quote: QUOTE,
  done: 'The installment is settled.',
});

export const settleInstallment = endpoint({
  id: 'settleInstallment',
  request: 'POST /installment/settle',
  summary: 'Report that an installment was paid',
  description:
    'Closes one installment for good. Less than its scheduled value is an underpayment: the `difference` leaves the curve, and a ' +
    'second report of it is refused. More is a `surplus`, taken as charges of this installment. ' +
    'The last open installment also closes the operation. With `dry_run` nothing of this happens; the answer says what would.',
  access: 'loans:write',
  bucket: 'settle',
  sandboxParameters: ['SandboxStrict', 'SandboxFail'],
  body: { schema: Settlement, example: exampleSettlement },
  success: ANSWER.success,
  errors: [
    ...(['installment_not_found', 'invalid_date', 'loan_not_found', 'operation_invalid_state'] as const),
    'installment_already_closed',
  ],
  answer: async ({ loans }, context, { body }) => {
    const input = inputOf(body);
    if (body.dry_run) return ANSWER.quoted(await loans.quoteSettlement(context, input));
    return ANSWER.done(await loans.settle(context, input));
  },
});

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
      oneOf: [ref(ANSWER.ReceiptOf), ref(Refusal)],
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
