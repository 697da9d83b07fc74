import type { LoanEvent, LoanState } from '../../domain/loan/index.ts';
import { addDays } from '../../domain/shared/calendar-date.ts';
import type { CalendarDate } from '../../domain/shared/calendar-date.ts';
import { businessDayOf } from '../portfolio/business-day.ts';

/** The day that the event itself names. */
const statedDate = (event: LoanEvent, before: LoanState): CalendarDate | undefined => {
  if ('settledAt' in event) return event.settledAt;
  if (event.type === 'PrepaymentProcessed') return event.prepaymentDate;
  if (event.type === 'RepurchaseRequested') return event.effectiveDate;
  // Processed later, it counts from the day that was asked for.
  if (event.type === 'RepurchaseCompleted' && 'repurchase' in before) return before.repurchase.effectiveDate;
  if (event.type === 'InstallmentBecameOverdue') return addDays(event.dueDate, 1);
  return event.type === 'LoanDisbursed' ? event.disbursementDate : undefined;
};

/**
 * The day from which an event counts: the one that its payment or decision states, otherwise the day in America/Sao_Paulo on which it
 * happened.
 */
export const businessDateOf = (event: LoanEvent, recordedAt: string, before: LoanState): CalendarDate => {
  const happenedAt = event.type === 'LoanDisbursed' ? event.disbursedAt : recordedAt;
  return statedDate(event, before) ?? businessDayOf(happenedAt);
};
