import type { AskedSettlement, SettlementReceipt as Receipt } from '../../../application/loans/payments.ts';
import type { Loans } from '../../../application/loans/loans.ts';
import { component, ref, requestObject } from '../../../application/schemas/schema.ts';
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

export const settlementFields = {
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
export const SettlementReceipt = ANSWER.ReceiptOf;

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
