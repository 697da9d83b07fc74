import { isShownStatus } from '../../../../domain/loan/statuses.ts';
import { bareDocument, isDocument } from '../../../../application/privacy/forget-borrower.ts';
import type { CalendarDate } from '../../../../domain/shared/calendar-date.ts';
import { dayTyped } from '../../format.ts';
import type { Visit } from '../../page.ts';

/** What a person asked for. */
export interface Search {
  /** What the code begins with. */
  readonly code?: string;
  /** CPF or CNPJ, without punctuation. */
  readonly document?: string;
  readonly fundId?: string;
  readonly status?: string;
  /** Received on this day or later. */
  readonly from?: CalendarDate;
  /** Received on this day or before. */
  readonly to?: CalendarDate;
  /** Why nothing was searched for. */
  readonly refused?: Refusal;
}

const LONGEST = 200;
export type Refusal = 'badCode' | 'badDocument' | 'badFund' | 'badDates';

const given = <Name extends keyof Search>(name: Name, value: string): Pick<Search, Name> | undefined =>
  value === '' ? undefined : ({ [name]: value } as unknown as Pick<Search, Name>);

const refusalOf = (typed: (name: string) => string, document: string): Refusal | undefined => {
  const [from, to] = [typed('from'), typed('to')].map((day) => (day === '' ? day : dayTyped(day)));
  if (!/^[\x21-\x7e]{0,100}$/.test(typed('code'))) return 'badCode';
  if (document !== '' && !isDocument(document)) return 'badDocument';
  if (!/^([0-9a-f-]{36})?$/.test(typed('fund').toLowerCase())) return 'badFund';
  const read = from !== undefined && to !== undefined;
  return read && (to === '' || to >= from) ? undefined : 'badDates';
};

/** What was typed, and which field of it cannot be searched for. */
export const searchOf = ({ fields }: Pick<Visit, 'fields'>): Search => {
  const typed = (name: string): string => (fields.get(name) ?? '').trim().slice(0, LONGEST);
  const document = bareDocument(typed('document'));
  const refused = refusalOf(typed, document);
  const [status, days] = [typed('status'), [typed('from'), typed('to')] as const];
  const [from, to] = days.map((day) => dayTyped(day) ?? '');
  return {
    ...given('code', typed('code')),
    ...given('document', refused === 'badDocument' ? typed('document') : document),
    ...given('fundId', typed('fund').toLowerCase()),
    ...given('status', isShownStatus(status) ? status : ''),
    ...given('from', from ?? ''),
    ...given('to', to ?? ''),
    ...(refused && { refused }),
  };
};
