import { presentValue } from '../../domain/curve/present-value.ts';
import { isOpen } from '../../domain/installment/installment.ts';
import type { Pricing } from '../../domain/loan/events.ts';
import { openFaceValue } from '../../domain/loan/state.ts';
import type { ActiveLoan } from '../../domain/loan/index.ts';
import { newOperation } from '../../domain/renegotiation/index.ts';
import type { Proposal } from '../../domain/renegotiation/index.ts';
import { daysBetween } from '../../domain/shared/calendar-date.ts';
import type { CalendarDate } from '../../domain/shared/calendar-date.ts';
import type {
  InstallmentCode,
  LoanCode,
  SealedBorrower,
  Timestamp,
} from '../../domain/shared/identifiers.ts';
import { LARGEST_AMOUNT } from '../../domain/shared/money.ts';
import type { Cents } from '../../domain/shared/money.ts';

/** One open installment of an original, and what it is worth on the effective date. */
interface RenegotiationQuoteLine {
  readonly code: LoanCode;
  readonly installmentCode: InstallmentCode;
  readonly dueDate: CalendarDate;
  readonly faceValue: Cents;
  /** From the effective date to the due date; negative once it is past. */
  readonly days: number;
  /** null when the original's value is beyond what can be stated */
  readonly presentValue: Cents | null;
}

interface QuotedOriginal {
  readonly code: LoanCode;
  readonly openFaceValue: Cents;
  readonly presentValue: Cents | null;
}

export interface RenegotiationQuote {
  readonly originals: readonly QuotedOriginal[];
  readonly newProposal: {
    readonly code: LoanCode;
    readonly acquisitionValue: Cents;
    readonly numberOfInstallments: number;
    readonly pricing: Pricing;
  };
  readonly effectiveDate: CalendarDate;
  /** In the order of the originals and of their schedules; those of one original add up to its value. */
  readonly lines: readonly RenegotiationQuoteLine[];
  readonly calculatedAt: Timestamp;
}

/** What would be written off, line by line, and what would come in. @throws DomainError `validation_error` */
export const quoteOf = (
  proposal: Proposal,
  originals: readonly ActiveLoan[],
  now: Timestamp,
): RenegotiationQuote => {
  // Neither the borrower nor the documents have a part in what the new operation is worth.
  const unsealed = '' as SealedBorrower;
  const received = newOperation({ proposal, borrower: unsealed, documents: [], now }, originals);
  const valued = originals.map((loan) => writtenOff(loan, proposal.effectiveDate));
  return {
    originals: valued.map(({ original }) => original),
    newProposal: {
      code: received.code,
      acquisitionValue: received.acquisitionValue,
      numberOfInstallments: received.installments.length,
      pricing: received.pricing,
    },
    effectiveDate: proposal.effectiveDate,
    lines: valued.flatMap(({ lines }) => lines),
    calculatedAt: now,
  };
};

const writtenOff = (
  { code, installments, pricing }: ActiveLoan,
  date: CalendarDate,
): { readonly original: QuotedOriginal; readonly lines: readonly RenegotiationQuoteLine[] } => {
  const open = installments.filter(isOpen);
  const { total, lines } = presentValue(pricing.dailyFactor, open, date);
  const stated = (value: Cents): Cents | null => (total > LARGEST_AMOUNT ? null : value);
  return {
    original: { code, openFaceValue: openFaceValue(open), presentValue: stated(total) },
    lines: open.map(({ code: installmentCode, dueDate, faceValue }, i) => {
      const value = lines[i]?.presentValue;
      if (value === undefined) throw new RangeError('every open installment has its line');
      const days = daysBetween(date, dueDate);
      return { code, installmentCode, dueDate, faceValue, days, presentValue: stated(value) };
    }),
  };
};
