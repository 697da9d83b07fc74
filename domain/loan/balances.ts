import { presentValue } from '../curve/present-value.ts';
import { isOpen } from '../installment/index.ts';
import type { Installment } from '../installment/state.ts';
import type { CalendarDate } from '../shared/calendar-date.ts';
import { ZERO, addCents } from '../shared/money.ts';
import type { Cents } from '../shared/money.ts';
import type { LoanBooks, LoanState, LoanTerms } from './state.ts';

/** Face values of the installments that are pending or overdue, in cents; credits of prepayments are not taken off. */
export const openFaceValue = (installments: readonly Installment[]): Cents =>
  addCents(...installments.filter(isOpen).map(({ faceValue }) => faceValue));

/** What would pay off everything open on `date`, in cents, along the curve of this daily factor. */
export const payoffValue = (
  installments: readonly Installment[],
  dailyFactor: string,
  date: CalendarDate,
): Cents => presentValue(dailyFactor, installments.filter(isOpen), date).total;

/** What the fund gave for the operation, in cents, as far as an exit is concerned: by the rule under which it was disbursed. */
export const exitBasisValue = ({
  exitBasis,
  disbursedValue,
  acquisitionValue,
}: LoanTerms & LoanBooks): Cents => (exitBasis === 'disbursed_value' ? disbursedValue : acquisitionValue);

/** Money received in cents: settlements, charges included, plus prepayments net of excess. */
export const totalReceived = (state: LoanState): Cents =>
  'receivedValue' in state ? state.receivedValue : ZERO;
