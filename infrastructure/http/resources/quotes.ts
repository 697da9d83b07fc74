import type { Outcome } from '../../../application/command-handling/request-context.ts';
import type { Quote, QuoteLine } from '../../../application/loans/quotes.ts';
import { component, ref } from '../../../application/schemas/schema.ts';
import {
  constant,
  fieldsOf,
  named,
  shownComponent,
  namedAmount,
  shown,
} from '../../../application/schemas/shown-fields.ts';
import type { ShownFields } from '../../../application/schemas/shown-fields.ts';
import { Amount, CalendarDate, InstallmentCode, ProposalCode } from '../../../application/schemas/values.ts';
import { REPLAYED } from '../openapi/components/headers.ts';
import { json } from '../openapi/operation.ts';
import recorded from '../openapi/recorded-answers.json' with { type: 'json' };
import { ok, outcomeReply } from '../operation.ts';
import type { Reply } from '../operation.ts';

export const dryRun = {
  type: 'boolean',
  default: false,
  description:
    'True only asks what would happen: the same checks and the same numbers, line by line. Nothing is stored, nobody is told, ' +
    'and the idempotency key stays unused.',
} as const;

export const QUOTED_INSTALLMENT = fieldsOf<Omit<QuoteLine, 'presentValue'>>()({
  installment_code: named(ref(InstallmentCode)),
  due_date: named(ref(CalendarDate)),
  days: named({
    type: 'integer',
    description: 'From the day of the quote to the due date; negative when it is late.',
  }),
  face_value: namedAmount(ref(Amount)),
});

export const QUOTED_LINE = fieldsOf<QuoteLine>()({
  ...QUOTED_INSTALLMENT,
  present_value: namedAmount({
    type: 'number',
    description: 'Its share of the total on the day of the quote; the shares add up to the cent.',
  }),
});

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

export const QUOTED_OPERATION = fieldsOf<Quote>()({
  originator_proposal_code: shown(ref(ProposalCode), ({ code }) => code),
  ...QUOTED,
  resulting_status: named({
    ...ref<string>('LoanStatus'),
    description: 'Status of the operation right after the request, had it been made.',
  }),
  ...PRICING,
});

interface Answers<Receipt, Quoted> {
  readonly receipt: ShownFields<Receipt>;
  readonly about?: { readonly description: string };
  readonly quote: ShownFields<Quoted>;
  readonly done: string;
}

export const receiptOrQuote = <Receipt, Quoted>(
  name: 'Settlement' | 'Prepayment' | 'Repurchase' | 'Renegotiation',
  { receipt, about, quote, done }: Answers<Receipt, Quoted>,
) => {
  const kind = name.toLowerCase() as Lowercase<typeof name>;
  const ReceiptOf = shownComponent(`${name}Receipt`, receipt, about);
  const description = `Answer to a ${kind} with \`dry_run\`.`;
  const QuoteOf = shownComponent(`${name}Quote`, quote, { description });
  const Answer = component(`${name}Answer`, {
    oneOf: [ref(ReceiptOf), ref(QuoteOf)],
    description: 'The receipt, or the quote of a `dry_run`.',
  });
  return {
    ReceiptOf,
    success: [
      { ...json(200, done, Answer, ReceiptOf.example), quote: recorded.quotes[kind], headers: REPLAYED },
    ],
    quoted: (quoted: Quoted): Reply => ok(QuoteOf.show(quoted)),
    done: (outcome: Outcome<Receipt>): Reply => outcomeReply(200, outcome, ReceiptOf.show),
  };
};
