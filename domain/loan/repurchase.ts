import { presentValue } from '../curve/present-value.ts';
import type { PresentValueLine } from '../curve/present-value.ts';
import type { CalendarDate } from '../shared/calendar-date.ts';
import { LARGEST_AMOUNT, cents } from '../shared/money.ts';
import type { Cents } from '../shared/money.ts';
import type { CompleteRepurchase, RequestRepurchase } from './commands.ts';
import { decided } from './events.ts';
import type { RepurchaseCompleted, RepurchaseRequested } from './events.ts';
import { EXITS } from './exits.ts';
import type { ExitPricing } from './exits.ts';
import {
  exitBasisValue,
  openInstallments,
  requireActive,
  requireLoan,
  requireNotBeforeIssue,
  requirePositive,
  valueOutOfRange,
  wrongStatus,
} from './state.ts';
import type { ActiveLoan, LoanState } from './state.ts';

/** What the fund is owed when the operation leaves it at this kind of price, and how the curve adds up to it, where it does. */
const valueOf = (
  pricing: ExitPricing,
  loan: ActiveLoan,
  date: CalendarDate,
): { readonly total: Cents; readonly lines: readonly PresentValueLine[] } => {
  switch (pricing) {
    case 'present_value':
      return presentValue(loan.pricing.dailyFactor, openInstallments(loan), date);
    case 'given_value':
      return { total: exitBasisValue(loan), lines: [] };
    case 'given_less_received':
      return { total: cents(Math.max(0, exitBasisValue(loan) - loan.receivedValue)), lines: [] };
  }
};

/** Takes an active operation out of the portfolio. The curve's own value is kept beside one that the integrator states. */
export const requestRepurchase = (
  command: RequestRepurchase,
  state: LoanState,
): readonly RepurchaseRequested[] => {
  const { reason, reasonDetail, effectiveDate, repurchaseValue: informed, now } = command;
  requirePositive('repurchase_value', informed);
  const loan = requireLoan(state);
  requireNotBeforeIssue(loan, 'effective_date', effectiveDate);
  const active = requireActive(loan, 'a repurchase');
  const { pricing, receivedValue } = active;
  const { total: calculatedValue, lines } = valueOf(EXITS[reason].pricing, active, effectiveDate);
  if (informed === undefined && calculatedValue > LARGEST_AMOUNT) {
    throw valueOutOfRange('effective_date', effectiveDate, 'state the repurchase_value');
  }
  return [
    {
      type: 'RepurchaseRequested',
      reason,
      ...(reasonDetail !== undefined && { reasonDetail }),
      effectiveDate,
      repurchaseValue: informed ?? calculatedValue,
      calculatedValue,
      valueSource: informed === undefined ? 'calculated' : 'informed',
      pricing,
      lines,
      receivedValue,
      calculatedAt: now,
    },
  ];
};

export const completeRepurchase = (
  command: CompleteRepurchase,
  state: LoanState,
): readonly RepurchaseCompleted[] => {
  const loan = requireLoan(state);
  if (!('repurchase' in loan))
    throw wrongStatus(loan, 'there is no repurchase to complete before one is requested');
  if (loan.status !== 'repurchase_pending') return [];
  const { reason, repurchaseValue } = loan.repurchase;
  const { status } = EXITS[reason];
  const completedAt = command.now;
  return [{ type: 'RepurchaseCompleted', reason, repurchaseValue, status, completedAt, ...decided(command) }];
};
