import type { Desk } from '../../../../application/desk-view/desk.ts';
import type { FoundOperations, ListedOperation } from '../../../../application/loans/search-operations.ts';
import { printedRows } from '../../../presenting/columns.ts';
import { withFundNames } from '../../../presenting/fund-names.ts';
import { LOAN_COLUMNS } from '../../../presenting/loan-columns.ts';
import { csvFor, csvChoice, leftOutView, reportFile } from '../../files.ts';
import { listing } from '../../desk-log.ts';
import { fundChoice, fundNames } from '../../funds.ts';
import { ConsoleProblem, query, view } from '../../page.ts';
import type { Answer, Page, Visit } from '../../page.ts';
import { placeIn, operationLink, placeText } from '../../paths.ts';
import { operationRoutes } from '../operation/page.ts';
import { addressFor, filterOf, searchAt, sameSearch, sortText } from './searches.ts';
import { texts } from './texts.ts';
import type { FundNames } from '../../../../domain/fund/names.ts';
import type { Sorting } from '../../../../application/loans/operation-query.ts';
import type { LoanColumnName } from '../../../presenting/loan-columns.ts';
import { badge, statusBadge, html, empty, tableView } from '../../html.ts';
import type { View, Column } from '../../html.ts';
import { amount, count, date, instant, statusName } from '../../format.ts';
import { words } from '../words.ts';
import type { Search, Refusal } from './searches.ts';
import { LOAN_STATUSES } from '../../../../domain/loan/statuses.ts';
import { may } from '../../../../application/desk/rights.ts';
import { tokenField, field, choiceField, dayField } from '../../forms.ts';
import type { Option } from '../../forms.ts';

interface Found {
  readonly found: FoundOperations;
  readonly search: Search;
  readonly funds: readonly string[];
  readonly names: FundNames;
  readonly applications: ReadonlyMap<string, string>;
  readonly continued: boolean;
}

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
const columnsOf = ({ found, search, names, applications }: Found): readonly Column<ListedOperation>[] => {
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

const PAGE_SIZE = 50;
const PLACE = ['by', 'key', 'stream'] as const;

const saidAt = (which: Refusal, { refused }: Search) =>
  which === refused
    ? {
        attributes: { 'aria-invalid': 'true', 'aria-describedby': which },
        text: html`<small class="problem" role="alert" id=${which}>${texts[which]}</small>`,
      }
    : { attributes: {}, text: undefined };

const form = ({ search, funds, names }: Found, visit: Visit): View => {
  const { typed } = search;
  const [code, document] = [saidAt('badCode', search), saidAt('badDocument', search)];
  const [fund, days] = [saidAt('badFund', search), saidAt('badDates', search)];
  const all: Option = ['', words.all];
  const states = LOAN_STATUSES.map((one): Option => [one, statusName(one)]);
  return html`
    <form method="post" action="/operations/search" class="actions" autocomplete="off">
      ${tokenField(visit)}
      ${typed.sort !== undefined && html`<input type="hidden" name="sort" value=${typed.sort} />`}
      ${field(texts.code, { name: 'code', value: typed.code ?? '', maxlength: '100', spellcheck: 'false', ...code.attributes }, code.text)}
      ${
        may(visit, 'borrowers') &&
        field(
          texts.document,
          {
            ...{ name: 'document', value: typed.document ?? '', maxlength: '24', spellcheck: 'false' },
            ...document.attributes,
          },
          document.text,
        )
      }
      ${fundChoice({ funds, names }, typed.fund, fund)}
      ${choiceField(words.status, 'status', { options: [all, ...states], chosen: typed.status }, saidAt('badChoice', search))}
      ${choiceField(texts.lateness, 'overdue', { options: [all, ['true', texts.onlyLate]], chosen: typed.overdue })}
      ${dayField(texts.from, { name: 'from', value: typed.from })}
      ${dayField(texts.to, { name: 'to', value: typed.to, ...days.attributes }, days.text)}
      <button>${texts.search}</button>
      <a href="/operations">${texts.clear}</a>
    </form>
  `;
};

const summary = ({ found, search }: Found): View => {
  const { total, operations, next, sorting } = found;
  const { overdueValue } = total ?? {};
  const says = [
    total && texts.counted(count(total.operations), total.operations === 1, total.atLeast),
    overdueValue !== undefined && texts.overdueSum(amount(overdueValue)),
    search.typed.overdue &&
      sorting.by === 'received_at' &&
      !found.orders.includes('days_late') &&
      texts.tooManyLate,
    next && operations.length < PAGE_SIZE && texts.lookedThrough,
  ].filter(Boolean);
  return says.length > 0 && html`<p role="status">${says.join(' ')}</p>`;
};

const pages = ({ found, search, continued }: Found): View => {
  const { operations, next } = found;
  const to = next && sameSearch('/operations', search, { after: placeText(PLACE, next) });
  return html`<p class="actions">
    ${continued && html`<a href=${sameSearch('/operations', search)}>${texts.first}</a>`}
    ${to !== undefined && html`<a href=${to} rel="next">${words.more}</a>`}
    ${operations.length > 0 && html`<a href=${sameSearch('/operations/export', search)} download>${words.exportCsv}</a>`}
  </p>`;
};

const operationsView = (all: Found, visit: Visit): View => {
  const { found, search } = all;
  if (search.refused) return form(all, visit);
  if (search.forgotten)
    return html`${form(all, visit)}
      <p class="problem" role="alert">${texts.forgotten}</p>`;
  const none =
    Object.keys(search.typed).length > 0 ? empty(texts.none) : empty(texts.nothingYet, texts.whatComes);
  return html`
    ${form(all, visit)} ${summary(all)}
    ${tableView({ label: texts.found, dense: true, empty: none }, columnsOf(all), found.operations)}
    ${pages(all)} ${found.operations.length > 0 && csvChoice(visit)}
  `;
};

const NOTHING = {
  operations: [],
  next: undefined,
  sorting: { by: 'received_at', descending: true },
  orders: [],
} as const;

const list = async (visit: Visit, app: Desk): Promise<Answer> => {
  const { loans, clients } = app;
  const search = searchAt(visit);
  const { refused, forgotten, typed } = search;
  const after = placeIn(PLACE, visit.query.get('after'));
  const asked = (): Promise<FoundOperations> =>
    loans.search.page({ ...filterOf(search), ...(after && { after }), limit: PAGE_SIZE });
  const [found, funds, names, applications] = await Promise.all([
    refused || forgotten ? NOTHING : asked(),
    clients.funds(),
    fundNames(app, visit),
    clients.applicationNames(),
  ]);
  const body = operationsView(
    { found, search, funds, names, applications, continued: after !== undefined },
    visit,
  );
  const logged = listing(found.operations.length, refused ? undefined : typed.fund);
  const shows = found.operations.map((one) => `${one.application_id}/${one.code}`);
  const leftOut = refused || forgotten ? null : await leftOutView(app);
  return { kind: 'page', body: [leftOut, body], logged, shows, ...(refused && { status: 422 }) };
};

const exported = async (visit: Visit, app: Desk): Promise<Answer> => {
  const search = searchAt(visit);
  const { refused, forgotten, typed } = search;
  if (refused) throw new ConsoleProblem(422, () => texts[refused]);
  if (forgotten) throw new ConsoleProblem(410, () => texts.forgotten);
  const columns = withFundNames(LOAN_COLUMNS, await app.funds.names(), (row) => row.fund_id);
  const rows = printedRows(columns, app.loans.search.every(filterOf(search), visit.signal), csvFor(visit));
  return {
    ...(await reportFile(app, { name: `operations-${visit.clock.today()}.csv`, rows })),
    logged: [{ action: 'exported', ...(typed.fund && { fundId: typed.fund }) }],
  };
};

export const operationsPage: Page = {
  path: '/operations',
  title: () => texts.title,
  routes: [
    view('/operations', list),
    query('/operations/search', async (visit) => ({ kind: 'redirect', to: addressFor(visit) })),
    view('/operations/export', exported),
    ...operationRoutes,
  ],
};
