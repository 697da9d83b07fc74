import type { LoanDetails } from '../../application/loans/loan-details.ts';
import { listOf, oneOf, ref, text } from '../../application/schemas/schema.ts';
import type { Schema } from '../../application/schemas/schema.ts';
import { shown, shownAmount } from '../../application/schemas/shown-fields.ts';
import type { ShownFields } from '../../application/schemas/shown-fields.ts';
import { Amount, Balance, CalendarDate, Timestamp } from '../../application/schemas/values.ts';

/** What happened to an operation once, where it did. */
type Happened<Name extends keyof LoanDetails> = ShownFields<NonNullable<LoanDetails[Name]>>;

const THROUGH: Schema = {
  type: ['string', 'null'],
  format: 'date-time',
  description: 'null until it is through.',
};

export const DISBURSEMENT: Happened<'disbursement'> = {
  value: shownAmount(
    { ...ref(Amount), description: 'What the fund paid for the operation.' },
    ({ value }) => value,
    1800.0,
  ),
  date: shown(
    {
      ...ref(CalendarDate),
      description:
        'The day on which it paid: as the administrator stated it, otherwise the day of the registration in Sao Paulo.',
    },
    ({ date }) => date,
    '2026-01-15',
  ),
};

export const PREPAYMENT: ShownFields<LoanDetails['prepayments'][number]> = {
  value: shownAmount({ ...ref(Amount), description: 'What was paid in advance.' }, ({ value }) => value),
  date: shown(ref(CalendarDate), ({ date }) => date),
  settled_installments: shown(
    listOf(ref<string>('InstallmentCode'), {
      description: 'Installments that it paid off; empty when all of it is a credit.',
    }),
    ({ settledInstallments }) => settledInstallments,
  ),
  excess_value: shownAmount(
    { ...ref(Balance), description: 'What was above the present value of all that was open.' },
    ({ excessValue }) => excessValue,
  ),
};

export const REPURCHASE: Happened<'repurchase'> = {
  reason: shown(
    text({ description: 'As it was requested.', examples: ['repurchase'] }),
    ({ reason }) => reason,
  ),
  reason_detail: shown(
    {
      type: ['string', 'null'],
      description: 'The remark of the request; null without one, and after the personal data was erased.',
    },
    ({ reasonDetail }) => reasonDetail,
  ),
  effective_date: shown(ref(CalendarDate), ({ effectiveDate }) => effectiveDate),
  repurchase_value: shownAmount(ref(Balance), ({ repurchaseValue }) => repurchaseValue),
  calculated_value: shownAmount(
    {
      ...ref(Balance),
      description: 'What the state of the operation gave, also where the request stated another value.',
    },
    ({ calculatedValue }) => calculatedValue,
  ),
  calculated_at: shown(ref(Timestamp), ({ calculatedAt }) => calculatedAt),
  completed_at: shown(THROUGH, ({ completedAt }) => completedAt),
};

export const RENEGOTIATION: Happened<'renegotiation'> = {
  role: shown(
    oneOf(['original', 'new'], {
      description: 'Whether this operation was replaced or replaces others.',
    }),
    ({ role }) => role,
  ),
  original_proposal_codes: shown(
    listOf(ref<string>('ProposalCode')),
    ({ originalProposalCodes }) => originalProposalCodes,
  ),
  new_proposal_code: shown(ref<string>('ProposalCode'), ({ newProposalCode }) => newProposalCode),
  effective_date: shown(ref(CalendarDate), ({ effectiveDate }) => effectiveDate),
  completed_at: shown(THROUGH, ({ completedAt }) => completedAt),
};
