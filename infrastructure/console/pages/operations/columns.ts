import type { FundNames } from '../../../../domain/fund/names.ts';
import type { FoundOperations, ListedOperation } from '../../../../application/loans/search-operations.ts';
import type { Sorting } from '../../../../application/loans/operation-query.ts';
import type { LoanColumnName } from '../../../presenting/loan-columns.ts';
import { badge, statusBadge, html } from '../../html.ts';
import type { View, Column } from '../../html.ts';
import { amount, count, date, instant } from '../../format.ts';
import { operationLink } from '../../paths.ts';
import { words } from '../words.ts';
import { sameSearch, sortText } from './searches.ts';
import type { Search } from './searches.ts';
import { texts } from './texts.ts';

export interface Found {
  readonly found: FoundOperations;
  readonly search: Search;
  readonly funds: readonly string[];
  readonly names: FundNames;
  readonly applications: ReadonlyMap<string, string>;
  /** This is not the first page. */
  readonly continued: boolean;
}

/** By its name, or else by the beginning of its id; the whole of it is at hand. */
const called = (id: string, names: ReadonlyMap<string, string>): View =>
  html`<span title=${id} class=${names.has(id) ? 'named' : 'code'}
    >${names.get(id) ?? `${id.slice(0, 8)}…`}</span
  >`;

const day = (at: string): View =>
  html`<time datetime=${at} title=${instant(at)}>${instant(at).slice(0, 10)}</time>`;

/** Largest, longest and newest first, codes from their beginning; the other way round where it is so already. */
const turned = (by: Sorting['by'], { sorting }: FoundOperations): Sorting => ({
  by,
  descending: sorting.by === by ? !sorting.descending : by !== 'code',
});

/** The columns of every list of operations, as a page shows them; null: in files and on the command line alone. A new one does not compile without its place here. */
export const columnsOf = ({
  found,
  search,
  names,
  applications,
}: Found): readonly Column<ListedOperation>[] => {
  const sortable = (
    by: Sorting['by'],
    title: string,
    cell: (row: ListedOperation) => View,
    look?: 'number' | 'date',
  ): Column<ListedOperation> => {
    if (!found.orders.includes(by)) return [title, cell, look];
    const { sorting } = found;
    const sorted = sorting.by !== by ? undefined : sorting.descending ? 'descending' : 'ascending';
    const arrow = sorted && html` <span aria-hidden="true">${sorted === 'ascending' ? '↑' : '↓'}</span>`;
    const to = sameSearch('/operations', search, { sort: sortText(turned(by, found)) });
    return [html`<a href=${to} title=${texts.sortBy}>${title}${arrow}</a>`, cell, look, sorted];
  };
  const columns: Readonly<Record<LoanColumnName | 'borrower', Column<ListedOperation> | null>> = {
    originator_proposal_code: sortable('code', words.operation, ({ application_id: applicationId, code }) =>
      operationLink({ applicationId, code }),
    ),
    status: [words.status, ({ status }) => statusBadge(status)],
    borrower: [words.borrower, ({ document }) => document ?? words.erased, 'code'],
    days_late: sortable(
      'days_late',
      texts.daysLate,
      ({ days_late: days }) => days !== null && badge('bad', count(days)),
      'number',
    ),
    overdue_value: sortable(
      'overdue_value',
      texts.overdueValue,
      ({ overdue_value: value }) => value !== null && amount(value),
      'number',
    ),
    acquisition_value: [words.acquisitionValue, (one) => amount(one.acquisition_value), 'number'],
    received_value: [texts.received, (one) => amount(one.received_value), 'number'],
    number_of_installments: null,
    product_type: [words.product, (one) => one.product_type],
    date_issued: [words.issued, (one) => date(one.date_issued), 'date'],
    received_at: sortable('received_at', texts.receivedAt, (one) => day(one.received_at), 'date'),
    updated_at: null,
    fund_id: [words.fund, (one) => called(one.fund_id, names)],
    application_id: [words.application, (one) => called(one.application_id, applications)],
  };
  return Object.values(columns).filter((column) => column !== null);
};
