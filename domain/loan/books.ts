import { presentValue } from '../curve/present-value.ts';
import type { InstallmentEvent } from '../installment/events.ts';
import { carryCredit, evolveInstallment, isOpen, payOff, pendingInstallment } from '../installment/index.ts';
import type { Installment } from '../installment/state.ts';
import type { CalendarDate } from '../shared/calendar-date.ts';
import { ZERO, addCents } from '../shared/money.ts';
import type { Cents } from '../shared/money.ts';
import type { LoanDisbursed, PrepaymentProcessed } from './events.ts';
import type { ActiveLoan, LoanBooks, LoanState, LoanTerms } from './state.ts';

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

/** Unchecked on purpose: replaying must not fail, and `decide` bounds every amount that gets into an event. */
const plus = (received: Cents, value: number): Cents => (received + value) as Cents;

export const openBooks = (
  { schedule }: LoanTerms,
  { disbursedValue, disbursementDate, exitBasis = 'acquisition_value' }: LoanDisbursed,
): LoanBooks => ({
  disbursedValue,
  ...(disbursementDate !== undefined && { disbursementDate }),
  exitBasis,
  installments: schedule.map(pendingInstallment),
  openCount: schedule.length,
  receivedValue: 0 as Cents,
  prepayments: [],
});

/** The same loan when the event names no installment of it, or one that is closed already. */
export const applyToInstallment = (loan: ActiveLoan, event: InstallmentEvent): ActiveLoan => {
  const index = loan.indexByCode.get(event.installmentCode);
  const before = index === undefined ? undefined : loan.installments[index];
  if (index === undefined || before === undefined) return loan;
  const after = evolveInstallment(before, event);
  if (after === before) return loan;
  return {
    ...loan,
    installments: loan.installments.with(index, after),
    openCount: isOpen(after) ? loan.openCount : loan.openCount - 1,
    receivedValue:
      event.type === 'InstallmentSettled' ? plus(loan.receivedValue, event.settledValue) : loan.receivedValue,
  };
};

export const applyPrepayment = (loan: ActiveLoan, event: PrepaymentProcessed): ActiveLoan => {
  const installments: Installment[] = [...loan.installments];
  let openCount = loan.openCount;
  const change = (code: string, next: (installment: Installment) => Installment): void => {
    const index = loan.indexByCode.get(code);
    const before = index === undefined ? undefined : installments[index];
    if (index === undefined || before === undefined) return;
    const after = next(before);
    installments[index] = after;
    if (isOpen(before) && !isOpen(after)) openCount -= 1;
  };
  const payment = { date: event.prepaymentDate, paymentMethod: event.paymentMethod };
  for (const code of event.settledInstallments) change(code, (installment) => payOff(installment, payment));
  const { partial } = event;
  if (partial) change(partial.installmentCode, (installment) => carryCredit(installment, partial.credit));
  return {
    ...loan,
    installments,
    openCount,
    receivedValue: plus(loan.receivedValue, event.prepaymentValue - event.excessValue),
    prepayments: [...loan.prepayments, event],
  };
};
