import type { PresentValueLine, RepurchaseReason } from '../loan/events.ts';
import type { CalendarDate } from '../shared/calendar-date.ts';
import { cents } from '../shared/money.ts';
import type { Cents } from '../shared/money.ts';
import { presentValue } from './present-value.ts';
import type { OpenAmount } from './present-value.ts';

export interface RepurchasedPosition {
  /** What the fund gave for the operation. */
  readonly exitBasisValue: Cents;
  readonly dailyFactor: string;
  /** Pending and overdue installments, in schedule order. */
  readonly open: readonly OpenAmount[];
  /** Settlements and prepayments so far, net of excess. */
  readonly receivedValue: Cents;
}

export interface RepurchaseValue {
  readonly value: Cents;
  /** How the curve adds up to the value; empty where the reason does not follow the curve. */
  readonly lines: readonly PresentValueLine[];
}

/**
 * What the fund is owed, in cents, when an operation leaves it for this reason on this date. A reversal gives back what
 * the fund gave; a resolution the same less the money received, never below zero; the others follow the curve.
 */
export const repurchaseValue = (
  reason: RepurchaseReason,
  position: RepurchasedPosition,
  effectiveDate: CalendarDate,
): RepurchaseValue => {
  switch (reason) {
    case 'repurchase':
    case 'integrated_repurchase': {
      const { total, lines } = presentValue(position.dailyFactor, position.open, effectiveDate);
      return { value: total, lines };
    }
    case 'cession_reversal':
      return { value: position.exitBasisValue, lines: [] };
    case 'resolution':
      return { value: cents(Math.max(0, position.exitBasisValue - position.receivedValue)), lines: [] };
  }
};
