import type { CalendarDate } from '../shared/calendar-date.ts';
import { cents } from '../shared/money.ts';
import type { Cents } from '../shared/money.ts';
import { presentValue } from './present-value.ts';
import type { OpenAmount, PresentValueLine } from './present-value.ts';

/** What is open along the curve, what the fund gave, or the same less the money received, never below zero. */
export type ExitPricing = 'present_value' | 'given_value' | 'given_less_received';

interface RepurchasedPosition {
  readonly exitBasisValue: Cents;
  readonly dailyFactor: string;
  readonly open: readonly OpenAmount[];
  /** Settlements and prepayments so far, net of excess. */
  readonly receivedValue: Cents;
}

interface RepurchaseValue {
  readonly value: Cents;
  /** How the curve adds up to the value; empty where the price does not follow the curve. */
  readonly lines: readonly PresentValueLine[];
}

/** What the fund is owed, in cents, when an operation leaves it at this kind of price on this date. */
export const repurchaseValue = (
  pricing: ExitPricing,
  position: RepurchasedPosition,
  effectiveDate: CalendarDate,
): RepurchaseValue => {
  switch (pricing) {
    case 'present_value': {
      const { total, lines } = presentValue(position.dailyFactor, position.open, effectiveDate);
      return { value: total, lines };
    }
    case 'given_value':
      return { value: position.exitBasisValue, lines: [] };
    case 'given_less_received':
      return { value: cents(Math.max(0, position.exitBasisValue - position.receivedValue)), lines: [] };
  }
};
