import { addDays } from '../../domain/shared/calendar-date.ts';
import type { CalendarDate } from '../../domain/shared/calendar-date.ts';
import { DomainError } from '../../domain/shared/domain-error.ts';
import type { RequestContext } from '../command-handling/request-context.ts';
import type { BusinessClock } from '../ports/clock.ts';

/** @throws DomainError `invalid_date` for a date after tomorrow (America/Sao_Paulo) where none may lie further ahead */
export const requirePaymentDate = (
  clock: Pick<BusinessClock, 'today'>,
  { strict }: Pick<RequestContext, 'strict'>,
  field: string,
  date: CalendarDate,
): void => {
  if (!strict) return;
  const last = addDays(clock.today(), 1);
  if (date <= last) return;
  const message = `${field} ${date} lies in the future; the last date accepted today is ${last}`;
  throw new DomainError('invalid_date', message, [{ field, code: 'invalid_date', message }]);
};
