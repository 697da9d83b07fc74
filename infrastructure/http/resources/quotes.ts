import type { Quote, QuoteLine } from '../../../application/loans/quotes.ts';
import { component, ref } from '../../../application/schemas/schema.ts';
import type { Component } from '../../../application/schemas/schema.ts';
import { constant, shown, shownAmount } from '../../../application/schemas/shown-fields.ts';
import type { ShownFields } from '../../../application/schemas/shown-fields.ts';
import { Amount, CalendarDate, InstallmentCode, ProposalCode } from '../../../application/schemas/values.ts';

/** Of every request that can be tried out. */
export const dryRun = {
  type: 'boolean',
  default: false,
  description:
    'True only asks what would happen: the same checks and the same numbers, line by line. Nothing is stored, nobody is told, ' +
    'and the idempotency key stays unused.',
} as const;

/** What a quote says about an installment. */
export const QUOTED_INSTALLMENT: ShownFields<Omit<QuoteLine, 'presentValue'>> = {
  installment_code: shown(ref(InstallmentCode), ({ installmentCode }) => installmentCode),
  due_date: shown(ref(CalendarDate), ({ dueDate }) => dueDate),
  days: shown(
    {
      type: 'integer',
      description: 'From the day of the quote to the due date; negative when it is late.',
    },
    ({ days }) => days,
  ),
  face_value: shownAmount(ref(Amount), ({ faceValue }) => faceValue),
};

export const QUOTED_LINE: ShownFields<QuoteLine> = {
  ...QUOTED_INSTALLMENT,
  present_value: shownAmount(
    {
      type: 'number',
      description: 'Its share of the total on the day of the quote; the shares add up to the cent.',
    },
    ({ presentValue }) => presentValue,
  ),
};

/** That it is a quote. */
export const QUOTED = {
  status: constant('quoted'),
  dry_run: shown({ type: 'boolean', const: true }, () => true as const),
} satisfies ShownFields<unknown>;

export const PRICING: ShownFields<Pick<Quote, 'pricing'>> = {
  pricing_policy: shown({ type: 'string', const: 'curve_v1' }, ({ pricing }) => pricing.policy),
  daily_factor: shown(
    {
      type: 'string',
      description:
        'Factor of one day on the curve, as a decimal; one day of waiting multiplies a value by it.',
      examples: ['0.999321899697897308243314396013'],
    },
    ({ pricing }) => pricing.dailyFactor,
  ),
};

/** With what every quote begins. */
export const QUOTED_OPERATION: ShownFields<Quote> = {
  originator_proposal_code: shown(ref(ProposalCode), ({ code }) => code),
  ...QUOTED,
  resulting_status: shown(
    {
      ...ref<string>('LoanStatus'),
      description: 'Status of the operation right after the request, had it been made.',
    },
    ({ resultingStatus }) => resultingStatus,
  ),
  ...PRICING,
};

/** How a request is answered that may ask for a quote only. */
export const receiptOrQuote = (name: string, receipt: Component, quote: Component): Component =>
  component(name, {
    oneOf: [ref(receipt), ref(quote)],
    description: 'The receipt, or the quote of a `dry_run`.',
  });
