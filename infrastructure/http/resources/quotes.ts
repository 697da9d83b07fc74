import type { Quote, QuoteLine } from '../../../application/loans/quotes.ts';
import { component, ref } from '../../../application/schemas/schema.ts';
import type { Component } from '../../../application/schemas/schema.ts';
import {
  Amount,
  CalendarDate,
  InstallmentCode,
  LoanStatus,
  ProposalCode,
} from '../../../application/schemas/values.ts';
import { amount } from '../../../application/support/json-amounts.ts';

/** Of every request that can be tried out. */
export const dryRun = {
  type: 'boolean',
  default: false,
  description:
    'True only asks what would happen: the same checks and the same numbers, line by line. Nothing is stored, nobody is told, ' +
    'and the idempotency key stays unused.',
} as const;

/** What a quote says about an installment. */
export const quotedInstallment = {
  installment_code: ref(InstallmentCode),
  due_date: ref(CalendarDate),
  days: {
    type: 'integer',
    description: 'From the day of the quote to the due date; negative when it is late.',
  },
  face_value: ref(Amount),
} as const;

export const quotedLine = {
  ...quotedInstallment,
  present_value: {
    type: 'number',
    description: 'Its share of the total on the day of the quote; the shares add up to the cent.',
  },
} as const;

/** With what every quote begins. */
export const quotedOperation = {
  originator_proposal_code: ref(ProposalCode),
  status: { type: 'string', const: 'quoted' },
  dry_run: { type: 'boolean', const: true },
  resulting_status: {
    ...ref(LoanStatus),
    description: 'Status of the operation right after the request, had it been made.',
  },
  pricing_policy: { type: 'string', const: 'curve_v1' },
  daily_factor: {
    type: 'string',
    description: 'Factor of one day on the curve, as a decimal; one day of waiting multiplies a value by it.',
    examples: ['0.999321899697897308243314396013'],
  },
} as const;

/** How a request is answered that may ask for a quote only. */
export const receiptOrQuote = (name: string, receipt: Component, quote: Component): Component =>
  component(name, {
    oneOf: [ref(receipt), ref(quote)],
    description: 'The receipt, or the quote of a `dry_run`.',
  });

export const presentQuotedInstallment = (line: Omit<QuoteLine, 'presentValue'>): object => ({
  installment_code: line.installmentCode,
  due_date: line.dueDate,
  days: line.days,
  face_value: amount(line.faceValue),
});

export const presentQuotedLine = (line: QuoteLine): object => ({
  ...presentQuotedInstallment(line),
  present_value: amount(line.presentValue),
});

export const presentQuotedOperation = (quote: Quote): object => ({
  originator_proposal_code: quote.code,
  status: 'quoted',
  dry_run: true,
  resulting_status: quote.resultingStatus,
  pricing_policy: quote.pricing.policy,
  daily_factor: quote.pricing.dailyFactor,
});
