import type {
  RepurchaseReceipt as Receipt,
  RequestRepurchaseInput,
} from '../../../application/loans/inputs.ts';
import type { Quotes, RepurchaseQuote as Quote } from '../../../application/loans/quotes.ts';
import type { RequestRepurchase } from '../../../application/loans/request-repurchase.ts';
import {
  component,
  object,
  oneOf,
  ref,
  refused,
  requestObject,
  schemasOf,
} from '../../../application/schemas/schema.ts';
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
import { REPURCHASE_REASONS } from '../../../domain/loan/events.ts';
import { centsFromAmount } from '../../../domain/shared/money.ts';
import { REPLAYED } from '../openapi/components/headers.ts';
import { json } from '../openapi/operation.ts';
import { amount, forClient, ok, outcomeReply } from '../operation.ts';
import { endpoint } from './endpoint.ts';
import { EXAMPLE } from './example-values.ts';
import {
  dryRun,
  presentQuotedLine,
  presentQuotedOperation,
  quotedLine,
  quotedOperation,
  receiptOrQuote,
} from './quotes.ts';

const repurchaseReason = oneOf(REPURCHASE_REASONS, {
  description:
    'Why the operation leaves. It decides the value that is calculated and the final status: repurchased, ' +
    'reversed after a cession_reversal, resolved after a resolution.',
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

const inputOf = (body: RepurchaseRequest): RequestRepurchaseInput => ({
  code: body.originator_proposal_code,
  reason: body.reason,
  ...(body.reason_detail !== undefined && { reasonDetail: body.reason_detail }),
  effectiveDate: body.effective_date,
  ...(body.repurchase_value !== undefined && { repurchaseValue: centsFromAmount(body.repurchase_value) }),
  idempotencyKey: body.idempotency_key,
});

const RepurchaseReceipt = component('RepurchaseReceipt', {
  ...object({
    originator_proposal_code: ref(ProposalCode),
    status: {
      type: 'string',
      enum: ['repurchase_pending', 'repurchased', 'reversed', 'resolved'],
      description: 'Pending until the administrator has processed it; a repeated request shows its end.',
    },
    reason: repurchaseReason,
    repurchase_value: ref(Balance),
    calculated_at: ref(Timestamp),
  }),
  description: 'Acknowledges a repurchase. The value stays what it was at the first request.',
});

const exampleReceipt = {
  originator_proposal_code: EXAMPLE.code,
  status: 'repurchase_pending',
  reason: 'repurchase',
  repurchase_value: 6147.33,
  calculated_at: '2026-06-20T15:04:05.000Z',
};

const present = (receipt: Receipt): object => ({
  originator_proposal_code: receipt.code,
  status: receipt.status,
  reason: receipt.reason,
  repurchase_value: amount(receipt.repurchaseValue),
  calculated_at: receipt.calculatedAt,
});

const RepurchaseQuote = component('RepurchaseQuote', {
  ...object({
    ...quotedOperation,
    reason: { type: 'string', enum: [...REPURCHASE_REASONS], description: 'As asked.' },
    effective_date: ref(CalendarDate),
    repurchase_value: { ...ref(Balance), description: 'What would be owed to the fund.' },
    calculated_value: { ...ref(Balance), description: 'What the reason gives, whatever was agreed.' },
    value_source: { type: 'string', enum: ['calculated', 'informed'], description: 'Which one would count.' },
    acquisition_value: { ...ref(Amount), description: 'Price of the operation.' },
    disbursed_value: { ...ref(Amount), description: 'What the administrator registered as disbursed.' },
    exit_basis: {
      type: 'string',
      enum: ['disbursed_value', 'acquisition_value'],
      description: 'Which of the two a reversal gives back, and a resolution starts from.',
    },
    received_value: { ...ref(Balance), description: 'Money received so far.' },
    lines: {
      type: 'array',
      items: object(quotedLine),
      description: 'Open installments whose values make up the calculated value; empty off the curve.',
    },
    calculated_at: ref(Timestamp),
  }),
  description: 'Answer to a repurchase with `dry_run`.',
});

const presentQuote = (quote: Quote): object => ({
  ...presentQuotedOperation(quote),
  reason: quote.reason,
  effective_date: quote.effectiveDate,
  repurchase_value: amount(quote.repurchaseValue),
  calculated_value: amount(quote.calculatedValue),
  value_source: quote.valueSource,
  acquisition_value: amount(quote.acquisitionValue),
  disbursed_value: amount(quote.disbursedValue),
  exit_basis: quote.exitBasis,
  received_value: amount(quote.receivedValue),
  lines: quote.lines.map(presentQuotedLine),
  calculated_at: quote.calculatedAt,
});

const RepurchaseAnswer = receiptOrQuote('RepurchaseAnswer', RepurchaseReceipt, RepurchaseQuote);
export const repurchaseSchemas = schemasOf(
  RepurchaseRequest,
  RepurchaseReceipt,
  RepurchaseQuote,
  RepurchaseAnswer,
);

export interface RepurchaseUses {
  readonly requestRepurchase: RequestRepurchase['execute'];
  readonly quoteRepurchase: Quotes['repurchase'];
}

export const requestRepurchase = endpoint({
  id: 'requestRepurchase',
  method: 'post',
  path: '/loan/repurchase',
  tag: 'Loans',
  summary: 'Take an operation out of the fund',
  description:
    'Freezes an active operation until the administrator has processed the request; its end arrives by webhook. ' +
    'Without `repurchase_value` the reason decides: present value of what is open for `repurchase` and ' +
    '`integrated_repurchase`, the price for `cession_reversal`, the price less the money received for `resolution`. ' +
    'With `dry_run` the operation stays as it is; the answer says what would happen.',
  access: 'loans:write',
  bucket: 'repurchase',
  body: [
    {
      mediaType: 'application/json',
      schema: RepurchaseRequest,
      example: exampleRepurchase,
      limit: 16_384,
    },
  ],
  success: [
    {
      ...json(200, 'The request is recorded.', RepurchaseAnswer, exampleReceipt),
      headers: REPLAYED,
    },
  ],
  errors: [
    ...(['invalid_date', 'loan_not_found', 'operation_invalid_state'] as const),
    ...(['idempotency_conflict', 'concurrent_modification'] as const),
  ],
  handler: ({ requestRepurchase: request, quoteRepurchase }: RepurchaseUses) => ({
    run: forClient<RepurchaseRequest>(async (context, { body }) => {
      const input = inputOf(body);
      if (body.dry_run) return ok(presentQuote(await quoteRepurchase(context, input)));
      return outcomeReply(200, await request(context, input), present);
    }),
  }),
});
