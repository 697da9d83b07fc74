import type { PrepaymentReceipt as Receipt, AskedPrepayment } from '../../../application/loans/payments.ts';
import type { Loans } from '../../../application/loans/loans.ts';
import { component, listOf, ref, requestObject } from '../../../application/schemas/schema.ts';
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
  namedPartIfThere,
  shown,
} from '../../../application/schemas/shown-fields.ts';
import { endpoint } from '../operation.ts';
import { EXAMPLE } from '../../../application/schemas/example-values.ts';
import { dryRun, QUOTED_LINE, QUOTED_OPERATION, receiptOrQuote } from './quotes.ts';

const Prepayment = component('Prepayment', {
  ...requestObject(
    {
      originator_proposal_code: ref(ProposalCode),
      prepayment_value: { ...ref(Amount), description: 'What came in ahead of the schedule.' },
      prepayment_date: {
        ...ref(CalendarDate),
        description: 'Day of the payment; everything is valued on it.',
      },
      payment_method: ref(PaymentMethod),
      idempotency_key: ref(IdempotencyKey),
      dry_run: dryRun,
    },
    ['dry_run'],
  ),
  description: 'Says that money came in before it was due.',
});
type Prepayment = TypeOf<typeof Prepayment>;

export const examplePrepayment = {
  originator_proposal_code: EXAMPLE.code,
  prepayment_value: 3000.0,
  prepayment_date: '2026-06-20',
  payment_method: 'pix',
  idempotency_key: `${EXAMPLE.code}-prepayment-1`,
};

const inputOf = (body: Prepayment): AskedPrepayment => ({
  code: body.originator_proposal_code,
  prepaymentValue: centsFromAmount(body.prepayment_value),
  prepaymentDate: body.prepayment_date,
  paymentMethod: body.payment_method,
  idempotencyKey: body.idempotency_key,
});

const CLOSED = listOf(ref(InstallmentCode));

type Credit = NonNullable<Receipt['partiallyPaid']>;

const RECEIPT = fieldsOf<Receipt>()({
  originator_proposal_code: shown(ref(ProposalCode), ({ code }) => code, EXAMPLE.code),
  status: constant('prepayment_processed'),
  prepayment_value: namedAmount(ref(Amount), 3000.0),
  settled_installments: named(
    {
      ...CLOSED,
      description: 'Installments that it closed, in the order in which the money reached them; may be empty.',
    },
    ['012', '011', '010'],
  ),
  remaining_balance: namedAmount(
    { ...ref(Balance), description: 'Present value, on the day of the payment, of what is still open.' },
    3147.33,
  ),
  excess_value: namedAmount({ ...ref(Balance), description: 'Surplus over everything that was open.' }, 0.0),
  partially_paid: namedPartIfThere(
    'Present when part of the money became a credit on an open installment.',
    fieldsOf<Credit>()({
      installment_code: named(ref(InstallmentCode), '009'),
      outstanding_value: namedAmount(
        { ...ref(Balance), description: 'Its debt on the due date once the credit has grown.' },
        436.45,
      ),
    }),
  ),
  processed_at: named(ref(Timestamp), '2026-06-20T15:04:05.000Z'),
});

type Quote = Awaited<ReturnType<Loans['quotePrepayment']>>;

const QUOTE = fieldsOf<Quote>()({
  ...QUOTED_OPERATION,
  prepayment_value: namedAmount(ref(Amount)),
  prepayment_date: named(ref(CalendarDate)),
  payoff_value: namedAmount({ ...ref(Balance), description: 'What would close the operation on that day.' }),
  settled_installments: named({ ...CLOSED, description: 'Installments that would be closed.' }),
  remaining_balance: namedAmount({ ...ref(Balance), description: 'Present value of what would stay open.' }),
  excess_value: namedAmount({ ...ref(Balance), description: 'What would come in beyond everything open.' }),
  partially_paid: namedPartIfThere(
    'The installment that would carry a credit, and its debt on the due date.',
    fieldsOf<Credit>()({
      installment_code: named(ref(InstallmentCode)),
      outstanding_value: namedAmount(ref(Balance)),
    }),
  ),
  lines: namedList(
    'Installments that the money would reach, in that order.',
    fieldsOf<Quote['lines'][number]>()({
      ...QUOTED_LINE,
      paid_off: named({ type: 'boolean', description: 'Whether it would be closed.' }),
    }),
  ),
  calculated_at: named(ref(Timestamp)),
});

const ANSWER = receiptOrQuote('Prepayment', {
  receipt: RECEIPT,
  about: {
    description: 'What this prepayment did. Sent again, it answers the same, whatever happened since.',
  },
  quote: QUOTE,
  done: 'The money is allocated.',
});

export const processPrepayment = endpoint({
  id: 'processPrepayment',
  request: 'POST /installment/prepayment',
  summary: 'Report money that came in early',
  description:
    'Values the open installments on the day of the payment and closes as many as the money covers: late ones ' +
    'first, then from the end of the schedule. What is left becomes a credit on the next installment in that ' +
    'order. Money for everything settles the operation; a surplus is reported as `excess_value`. ' +
    'With `dry_run` nothing of this happens; the answer says what would.',
  access: 'loans:write',
  bucket: 'prepayment',
  sandboxParameters: ['SandboxStrict', 'SandboxFail'],
  body: {
    schema: Prepayment,
    example: examplePrepayment,
    sample: { ...examplePrepayment, prepayment_value: 1200.0 },
  },
  success: ANSWER.success,
  errors: ['invalid_date', 'loan_not_found', 'operation_invalid_state'],
  answer: async ({ loans }, context, { body }) => {
    const input = inputOf(body);
    if (body.dry_run) return ANSWER.quoted(await loans.quotePrepayment(context, input));
    return ANSWER.done(await loans.prepay(context, input));
  },
});
