import type { LoanDetails } from '../../application/loans/loan-details.ts';
import { listOf, oneOf, ref, text } from '../../application/schemas/schema.ts';
import type { Schema } from '../../application/schemas/schema.ts';
import { fieldsOf, named, namedAmount } from '../../application/schemas/shown-fields.ts';
import { Amount, Balance, CalendarDate, Timestamp } from '../../application/schemas/values.ts';

type Happened<Name extends keyof LoanDetails> = NonNullable<LoanDetails[Name]>;

const THROUGH: Schema = {
  type: ['string', 'null'],
  format: 'date-time',
  description: 'null until it is through.',
};

export const DISBURSEMENT = fieldsOf<Happened<'disbursement'>>()({
  value: namedAmount({ ...ref(Amount), description: 'What the fund paid for the operation.' }, 1800.0),
  date: named(
    {
      ...ref(CalendarDate),
      description:
        'The day on which it paid: as the administrator stated it, otherwise the day of the registration in Sao Paulo.',
    },
    '2026-01-15',
  ),
});

export const PREPAYMENT = fieldsOf<LoanDetails['prepayments'][number]>()({
  value: namedAmount({ ...ref(Amount), description: 'What was paid in advance.' }),
  date: named(ref(CalendarDate)),
  settled_installments: named(
    listOf(ref<string>('InstallmentCode'), {
      description: 'Installments that it paid off; empty when all of it is a credit.',
    }),
  ),
  excess_value: namedAmount({
    ...ref(Balance),
    description: 'What was above the present value of all that was open.',
  }),
});

export const REPURCHASE = fieldsOf<Happened<'repurchase'>>()({
  reason: named(text({ description: 'As it was requested.', examples: ['repurchase'] })),
  reason_detail: named({
    type: ['string', 'null'],
    description: 'The remark of the request; null without one, and after the personal data was erased.',
  }),
  effective_date: named(ref(CalendarDate)),
  repurchase_value: namedAmount(ref(Balance)),
  calculated_value: namedAmount({
    ...ref(Balance),
    description: 'What the state of the operation gave, also where the request stated another value.',
  }),
  calculated_at: named(ref(Timestamp)),
  completed_at: named(THROUGH),
});

export const RENEGOTIATION = fieldsOf<Happened<'renegotiation'>>()({
  role: named(
    oneOf(['original', 'new'], {
      description: 'Whether this operation was replaced or replaces others.',
    }),
  ),
  original_proposal_codes: named(listOf(ref<string>('ProposalCode'))),
  new_proposal_code: named(ref<string>('ProposalCode')),
  effective_date: named(ref(CalendarDate)),
  completed_at: named(THROUGH),
});
