import { presentValue } from '../../domain/curve/present-value.ts';
import { openFaceValue, openInstallments } from '../../domain/loan/state.ts';
import type { ActiveLoan } from '../../domain/loan/index.ts';
import { newOperation } from '../../domain/renegotiation/index.ts';
import type { Proposal } from '../../domain/renegotiation/index.ts';
import { daysBetween } from '../../domain/shared/calendar-date.ts';
import type { CalendarDate } from '../../domain/shared/calendar-date.ts';
import type { SealedBorrower, Timestamp } from '../../domain/shared/identifiers.ts';
import { LARGEST_AMOUNT } from '../../domain/shared/money.ts';
import type { Cents } from '../../domain/shared/money.ts';

/** What would be written off, line by line, and what would come in. @throws DomainError `validation_error` */
export const quoteOf = (proposal: Proposal, originals: readonly ActiveLoan[], now: Timestamp) => {
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

/** Lines in the order of the schedule; they add up to the original's value. */
const writtenOff = (loan: ActiveLoan, date: CalendarDate) => {
  const { code, pricing } = loan;
  const open = openInstallments(loan);
  const { total, lines } = presentValue(pricing.dailyFactor, open, date);
  /** null where the original's value is beyond what can be stated */
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
