import type { RepurchaseReceipt as Receipt, AskedRepurchase } from '../../../application/loans/payments.ts';
import type { Loans } from '../../../application/loans/loans.ts';
import { component, oneOf, ref, refused, requestObject } from '../../../application/schemas/schema.ts';
import type { TypeOf } from '../../../application/schemas/schema.ts';
import {
  Amount,
  Balance,
  CalendarDate,
  IdempotencyKey,
  longText,
  ProposalCode,
  Timestamp,
} from '../../../application/schemas/values.ts';
import { EXITS, REPURCHASE_END_STATUSES, REPURCHASE_REASONS } from '../../../domain/loan/exits.ts';
import type { ExitPricing } from '../../../domain/loan/exits.ts';
import { centsFromAmount } from '../../../domain/shared/money.ts';
import { fieldsOf, named, namedAmount, namedList, shown } from '../../../application/schemas/shown-fields.ts';
import { endpoint } from '../operation.ts';
import { EXAMPLE } from '../../../application/schemas/example-values.ts';
import { dryRun, QUOTED_LINE, QUOTED_OPERATION, receiptOrQuote } from './quotes.ts';

const otherEnds = REPURCHASE_REASONS.filter((reason) => EXITS[reason].status !== EXITS.repurchase.status).map(
  (reason) => `${EXITS[reason].status} after a ${reason}`,
);

const repurchaseReason = oneOf(REPURCHASE_REASONS, {
  description:
    'Why the operation leaves. It decides the value that is calculated and the final status: ' +
    `${[EXITS.repurchase.status, ...otherEnds].join(', ')}.`,
  examples: ['repurchase'],
  ...refused('invalid_value', `must be one of ${REPURCHASE_REASONS.join(', ')}`),
});

const RepurchaseRequest = component('RepurchaseRequest', {
  ...requestObject(
    {
      originator_proposal_code: ref(ProposalCode),
      reason: repurchaseReason,
      reason_detail: longText('Remark for auditors.', 2_000, 'Customer returned the goods'),
      effective_date: { ...ref(CalendarDate), description: 'Day on which the value is calculated.' },
      repurchase_value: {
        ...ref(Amount),
        description: 'Agreed value; leave it out to have it calculated.',
      },
      idempotency_key: ref(IdempotencyKey),
      dry_run: dryRun,
    },
    ['reason_detail', 'repurchase_value', 'dry_run'],
  ),
  description: 'Asks that an active operation leaves the fund.',
});
type RepurchaseRequest = TypeOf<typeof RepurchaseRequest>;

export const exampleRepurchase = {
  originator_proposal_code: EXAMPLE.code,
  reason: 'repurchase',
  reason_detail: 'Three installments overdue',
  effective_date: '2026-06-20',
  idempotency_key: `${EXAMPLE.code}-repurchase`,
};

const inputOf = (body: RepurchaseRequest): AskedRepurchase => ({
  code: body.originator_proposal_code,
  reason: body.reason,
  ...(body.reason_detail !== undefined && { reasonDetail: body.reason_detail }),
  effectiveDate: body.effective_date,
  ...(body.repurchase_value !== undefined && { repurchaseValue: centsFromAmount(body.repurchase_value) }),
  idempotencyKey: body.idempotency_key,
});

const RECEIPT = fieldsOf<Receipt>()({
  originator_proposal_code: shown(ref(ProposalCode), ({ code }) => code, EXAMPLE.code),
  status: named(
    oneOf(['repurchase_pending', ...REPURCHASE_END_STATUSES], {
      description: 'Pending until the administrator has processed it; a repeated request shows its end.',
    }),
    'repurchase_pending',
  ),
  reason: named(repurchaseReason, 'repurchase'),
  repurchase_value: namedAmount(ref(Balance), 6147.33),
  calculated_at: named(ref(Timestamp), '2026-06-20T15:04:05.000Z'),
});

const QUOTE = fieldsOf<Awaited<ReturnType<Loans['quoteRepurchase']>>>()({
  ...QUOTED_OPERATION,
  reason: named(oneOf(REPURCHASE_REASONS, { description: 'As asked.' })),
  effective_date: named(ref(CalendarDate)),
  repurchase_value: namedAmount({ ...ref(Balance), description: 'What would be owed to the fund.' }),
  calculated_value: namedAmount({
    ...ref(Balance),
    description: 'What the reason gives, whatever was agreed.',
  }),
  value_source: named({
    type: 'string',
    enum: ['calculated', 'informed'],
    description: 'Which one would count.',
  }),
  acquisition_value: namedAmount({
    ...ref(Amount),
    description: 'What the operation was assigned for; its curve follows it.',
  }),
  disbursed_value: namedAmount({
    ...ref(Amount),
    description: 'What the administrator registered as disbursed.',
  }),
  exit_basis: named({
    type: 'string',
    enum: ['disbursed_value', 'acquisition_value'],
    description: 'Which of the two a reversal gives back, and a resolution starts from.',
  }),
  received_value: namedAmount({ ...ref(Balance), description: 'Money received so far.' }),
  lines: namedList(
    'Open installments whose values make up the calculated value; empty off the curve.',
    QUOTED_LINE,
  ),
  calculated_at: named(ref(Timestamp)),
});

const ANSWER = receiptOrQuote('Repurchase', {
  receipt: RECEIPT,
  about: { description: 'Acknowledges a repurchase. The value stays what it was at the first request.' },
  quote: QUOTE,
  done: 'The request is recorded.',
});

const pricedBy = (pricing: ExitPricing): string =>
  REPURCHASE_REASONS.filter((reason) => EXITS[reason].pricing === pricing)
    .map((reason) => `\`${reason}\``)
    .join(' and ');

export const requestRepurchase = endpoint({
  id: 'requestRepurchase',
  request: 'POST /loan/repurchase',
  summary: 'Take an operation out of the fund',
  description:
    'Freezes an active operation until the administrator has processed the request; its end arrives by webhook. ' +
    `Without \`repurchase_value\` the reason decides: present value of what is open for ${pricedBy('present_value')}, the ` +
    `disbursed value for ${pricedBy('given_value')}, and for ${pricedBy('given_less_received')} the disbursed value less the ` +
    'money received, at least 0. Of an operation that was disbursed before version 2026.11.2 the acquisition value stands ' +
    'for the disbursed one, as `exit_basis` of a quote says. ' +
    'With `dry_run` the operation stays as it is; the answer says what would happen.',
  access: 'loans:write',
  bucket: 'repurchase',
  sandboxParameters: ['SandboxStrict', 'SandboxFail'],
  body: { schema: RepurchaseRequest, example: exampleRepurchase, limit: 16_384 },
  success: ANSWER.success,
  errors: ['invalid_date', 'loan_not_found', 'operation_invalid_state'],
  answer: async ({ loans }, context, { body }) => {
    const input = inputOf(body);
    if (body.dry_run) return ANSWER.quoted(await loans.quoteRepurchase(context, input));
    return ANSWER.done(await loans.repurchase(context, input));
  },
});
