import type {
  PrepaymentReceipt as Receipt,
  AskedPrepayment,
} from '../../../application/loans/process-prepayment.ts';
import type { Loans } from '../../../application/loans/loans.ts';
import { component, object, ref, requestObject, schemasOf } from '../../../application/schemas/schema.ts';
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
import { REPLAYED } from '../openapi/components/headers.ts';
import { json } from '../openapi/operation.ts';
import recorded from '../openapi/recorded-answers.json' with { type: 'json' };
import { forClient, ok, outcomeReply } from '../operation.ts';
import { amount } from '../../../application/support/json-amounts.ts';
import { endpoint } from './endpoint.ts';
import { EXAMPLE } from '../../../application/schemas/example-values.ts';
import {
  dryRun,
  presentQuotedLine,
  presentQuotedOperation,
  quotedLine,
  quotedOperation,
  receiptOrQuote,
} from './quotes.ts';

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

const PrepaymentReceipt = component('PrepaymentReceipt', {
  ...object(
    {
      originator_proposal_code: ref(ProposalCode),
      status: { type: 'string', const: 'prepayment_processed' },
      prepayment_value: ref(Amount),
      settled_installments: {
        type: 'array',
        items: ref(InstallmentCode),
        description:
          'Installments that it closed, in the order in which the money reached them; may be empty.',
      },
      remaining_balance: {
        ...ref(Balance),
        description: 'Present value, on the day of the payment, of what is still open.',
      },
      excess_value: { ...ref(Balance), description: 'Surplus over everything that was open.' },
      partially_paid: {
        ...object({
          installment_code: ref(InstallmentCode),
          outstanding_value: {
            ...ref(Balance),
            description: 'Its debt on the due date once the credit has grown.',
          },
        }),
        description: 'Present when part of the money became a credit on an open installment.',
      },
      processed_at: ref(Timestamp),
    },
    ['partially_paid'],
  ),
  description: 'What this prepayment did. Sent again, it answers the same, whatever happened since.',
});

const exampleReceipt = {
  originator_proposal_code: EXAMPLE.code,
  status: 'prepayment_processed',
  prepayment_value: 3000.0,
  settled_installments: ['012', '011', '010'],
  remaining_balance: 3147.33,
  excess_value: 0.0,
  partially_paid: { installment_code: '009', outstanding_value: 436.45 },
  processed_at: '2026-06-20T15:04:05.000Z',
};

const present = (receipt: Receipt): object => ({
  originator_proposal_code: receipt.code,
  status: receipt.status,
  prepayment_value: amount(receipt.prepaymentValue),
  settled_installments: receipt.settledInstallments,
  remaining_balance: amount(receipt.remainingBalance),
  excess_value: amount(receipt.excessValue),
  ...(receipt.partiallyPaid && {
    partially_paid: {
      installment_code: receipt.partiallyPaid.installmentCode,
      outstanding_value: amount(receipt.partiallyPaid.outstandingValue),
    },
  }),
  processed_at: receipt.processedAt,
});

const PrepaymentQuote = component('PrepaymentQuote', {
  ...object(
    {
      ...quotedOperation,
      prepayment_value: ref(Amount),
      prepayment_date: ref(CalendarDate),
      payoff_value: {
        ...ref(Balance),
        description: 'What would close the operation on that day.',
      },
      settled_installments: {
        type: 'array',
        items: ref(InstallmentCode),
        description: 'Installments that would be closed.',
      },
      remaining_balance: { ...ref(Balance), description: 'Present value of what would stay open.' },
      excess_value: { ...ref(Balance), description: 'What would come in beyond everything open.' },
      partially_paid: {
        ...object({ installment_code: ref(InstallmentCode), outstanding_value: ref(Balance) }),
        description: 'The installment that would carry a credit, and its debt on the due date.',
      },
      lines: {
        type: 'array',
        items: object({
          ...quotedLine,
          paid_off: { type: 'boolean', description: 'Whether it would be closed.' },
        }),
        description: 'Installments that the money would reach, in that order.',
      },
      calculated_at: ref(Timestamp),
    },
    ['partially_paid'],
  ),
  description: 'Answer to a prepayment with `dry_run`.',
});

type Quote = Awaited<ReturnType<Loans['quotePrepayment']>>;

const presentQuote = (quote: Quote): object => ({
  ...presentQuotedOperation(quote),
  prepayment_value: amount(quote.prepaymentValue),
  prepayment_date: quote.prepaymentDate,
  payoff_value: amount(quote.payoffValue),
  settled_installments: quote.settledInstallments,
  remaining_balance: amount(quote.remainingBalance),
  excess_value: amount(quote.excessValue),
  ...(quote.partiallyPaid && {
    partially_paid: {
      installment_code: quote.partiallyPaid.installmentCode,
      outstanding_value: amount(quote.partiallyPaid.outstandingValue),
    },
  }),
  lines: quote.lines.map((line) => ({ ...presentQuotedLine(line), paid_off: line.paidOff })),
  calculated_at: quote.calculatedAt,
});

const PrepaymentAnswer = receiptOrQuote('PrepaymentAnswer', PrepaymentReceipt, PrepaymentQuote);
export const prepaymentSchemas = schemasOf(Prepayment, PrepaymentReceipt, PrepaymentQuote, PrepaymentAnswer);

export const processPrepayment = endpoint({
  id: 'processPrepayment',
  method: 'post',
  path: '/installment/prepayment',
  tag: 'Installments',
  summary: 'Report money that came in early',
  description:
    'Values the open installments on the day of the payment and closes as many as the money covers: late ones ' +
    'first, then from the end of the schedule. What is left becomes a credit on the next installment in that ' +
    'order. Money for everything settles the operation; a surplus is reported as `excess_value`. ' +
    'With `dry_run` nothing of this happens; the answer says what would.',
  access: 'loans:write',
  bucket: 'prepayment',
  sandboxParameters: ['SandboxStrict', 'SandboxFail'],
  body: [
    {
      mediaType: 'application/json',
      schema: Prepayment,
      example: examplePrepayment,
      sample: { ...examplePrepayment, prepayment_value: 1200.0 },
    },
  ],
  success: [
    {
      ...json(200, 'The money is allocated.', PrepaymentAnswer, exampleReceipt),
      quote: recorded.quotes.prepayment,
      headers: REPLAYED,
    },
  ],
  errors: [
    ...(['invalid_date', 'loan_not_found', 'operation_invalid_state'] as const),
    ...(['idempotency_conflict', 'concurrent_modification'] as const),
  ],
  handler: ({ app: { loans } }) => ({
    run: forClient<Prepayment>(async (context, { body }) => {
      const input = inputOf(body);
      if (body.dry_run) return ok(presentQuote(await loans.quotePrepayment(context, input)));
      return outcomeReply(200, await loans.prepay(context, input), present);
    }),
  }),
});
