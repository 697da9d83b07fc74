import { addDays } from '../../domain/shared/calendar-date.ts';
import type { CalendarDate } from '../../domain/shared/calendar-date.ts';
import { DomainError } from '../../domain/shared/domain-error.ts';
import type { BusinessClock } from '../ports/clock.ts';

/** Whether payments may carry a date in the future: a sandbox plays whole lives of operations, production does not. */
export interface PaymentDatePolicy {
  readonly allowFuture: boolean;
}

/** @throws DomainError `invalid_date` for a date after tomorrow (America/Sao_Paulo) where the policy forbids it */
export const requirePaymentDate = (
  policy: PaymentDatePolicy,
  clock: BusinessClock,
  field: string,
  date: CalendarDate,
): void => {
  if (policy.allowFuture) return;
  const last = addDays(clock.today(), 1);
  if (date <= last) return;
  const message = `${field} ${date} lies in the future; the last date accepted today is ${last}`;
  throw new DomainError('invalid_date', message, [{ field, code: 'invalid_date', message }]);
};
