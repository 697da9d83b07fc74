import { isShownStatus } from '../../../../domain/loan/statuses.ts';
import { bareDocument, isDocument } from '../../../../application/privacy/forget-borrower.ts';
import { SORTED_BY } from '../../../../application/loans/operation-query.ts';
import type { Sorting } from '../../../../application/loans/operation-query.ts';
import type { OperationSearch } from '../../../../application/loans/search-operations.ts';
import { endOfBusinessDay } from '../../../../application/support/business-day.ts';
import { addDays } from '../../../../domain/shared/calendar-date.ts';
import type { CalendarDate } from '../../../../domain/shared/calendar-date.ts';
import { dayTyped } from '../../format.ts';
import { Kept } from '../../kept.ts';
import { withQuery } from '../../paths.ts';
import type { Visit } from '../../page.ts';

/** Fields of the form, and of an address but for the document. */
const FIELDS = ['code', 'document', 'fund', 'status', 'overdue', 'from', 'to', 'sort'] as const;
type Field = (typeof FIELDS)[number];
type Typed = Readonly<Partial<Record<Field, string>>>;

export type Refusal = 'badCode' | 'badDocument' | 'badFund' | 'badDates' | 'badChoice';

export interface Search {
  readonly typed: Typed;
  /** Number of what stands in no address. */
  readonly id?: string;
  /** The number is of nothing that is kept. */
  readonly forgotten: boolean;
  readonly refused?: Refusal;
}

const LONGEST = 200;
const MOST_SEARCHES = 256;
const searches = new Kept<Typed>(MOST_SEARCHES);

const typedIn = (fields: URLSearchParams): Typed => {
  const typed = FIELDS.map((name) => [name, (fields.get(name) ?? '').trim().slice(0, LONGEST)] as const);
  return Object.fromEntries(typed.filter(([, value]) => value !== ''));
};

const sortingOf = (text: string): Sorting | undefined => {
  const by = SORTED_BY.find((name) => text === name || text === `-${name}`);
  return by && { by, descending: text.startsWith('-') };
};
export const sortText = ({ by, descending }: Sorting): string => `${descending ? '-' : ''}${by}`;

const CHECKS: readonly (readonly [Refusal, (typed: Typed) => boolean])[] = [
  ['badCode', ({ code = '' }) => /^[\x21-\x7e]{0,100}$/.test(code)],
  ['badDocument', ({ document }) => document === undefined || isDocument(bareDocument(document))],
  ['badFund', ({ fund }) => fund === undefined || /^[0-9a-f-]{36}$/i.test(fund)],
  ['badChoice', ({ status }) => status === undefined || isShownStatus(status)],
  ['badChoice', ({ overdue = 'true' }) => overdue === 'true'],
  ['badChoice', ({ sort }) => sort === undefined || sortingOf(sort) !== undefined],
  ['badDates', ({ from, to }) => [from, to].every((day) => day === undefined || dayTyped(day) !== undefined)],
  ['badDates', ({ from, to }) => from === undefined || to === undefined || dayTyped(to)! >= dayTyped(from)!],
];
const refusalOf = (typed: Typed): Refusal | undefined => CHECKS.find(([, holds]) => !holds(typed))?.[0];

export const searchAt = (visit: Visit): Search => {
  const id = visit.query.get('search') ?? undefined;
  const kept = id === undefined ? {} : searches.find(visit, id);
  const { document: _, ...asked } = typedIn(visit.query);
  const typed = { ...asked, ...kept };
  const refused = refusalOf(typed);
  return {
    typed,
    ...(id !== undefined && { id }),
    forgotten: kept === undefined,
    ...(refused && { refused }),
  };
};

/** The address of what a form asks for. What may be somebody's document, and what is refused, stays here instead. */
export const addressFor = (visit: Visit): string => {
  const typed = typedIn(visit.fields);
  if (refusalOf(typed)) return withQuery('/operations', { search: searches.keep(visit, typed) });
  const { document, code, from, to, ...others } = typed;
  const days = { from: from && dayTyped(from), to: to && dayTyped(to) };
  const isOpen = code === undefined || !isDocument(bareDocument(code));
  const kept = { ...(document && { document }), ...(code && !isOpen && { code }) };
  const search = Object.keys(kept).length > 0 ? searches.keep(visit, kept) : undefined;
  return withQuery('/operations', { ...(isOpen && { code }), ...others, ...days, search });
};

export const sameSearch = (
  path: string,
  { typed, id }: Search,
  more: Readonly<Record<string, string | undefined>> = {},
): string => {
  const { document: _, code, ...others } = typed;
  const open = code === undefined || !isDocument(bareDocument(code)) ? { code } : {};
  return withQuery(path, { ...open, ...others, search: id, ...more });
};

const beginOf = (day: CalendarDate): string => endOfBusinessDay(addDays(day, -1));

/** Days are those of São Paulo. */
export const filterOf = ({ typed }: Search): OperationSearch => {
  const { code, document, fund, status, overdue, from, to, sort } = typed;
  const sorting = sort === undefined ? undefined : sortingOf(sort);
  return {
    ...(code !== undefined && { code }),
    ...(document !== undefined && { document: bareDocument(document) }),
    ...(fund !== undefined && { fundId: fund }),
    ...(status !== undefined && { status: [status] }),
    ...(overdue !== undefined && { overdue: true }),
    ...(from !== undefined && { from: beginOf(dayTyped(from)!) }),
    ...(to !== undefined && { before: endOfBusinessDay(dayTyped(to)!) }),
    ...(sorting && { sorting }),
  };
};
