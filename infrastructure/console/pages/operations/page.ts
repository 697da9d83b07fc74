import type { Desk } from '../../../../application/desk-view/desk.ts';
import type { CalendarDate } from '../../../../domain/shared/calendar-date.ts';
import { addDays } from '../../../../domain/shared/calendar-date.ts';
import { endOfBusinessDay } from '../../../../application/support/business-day.ts';
import { printedRows } from '../../../presenting/columns.ts';
import { withFundNames } from '../../../presenting/fund-names.ts';
import { LOAN_COLUMNS } from '../../../presenting/loan-columns.ts';
import { csvFor } from '../../csv-choice.ts';
import { fundNames } from '../../funds.ts';
import { Kept } from '../../kept.ts';
import { inEach } from '../../language.ts';
import { ConsoleProblem, query, view } from '../../page.ts';
import type { Answer, Page, Visit } from '../../page.ts';
import type { OperationFilter } from '../../../../application/loans/search-operations.ts';
import { operationRoutes } from '../operation/page.ts';
import { searchOf } from './searches.ts';
import type { Search } from './searches.ts';
import { OPERATIONS } from './texts.ts';
import { operationsView, placeOf } from './view.ts';

const PAGE_SIZE = 50;

const MOST_SEARCHES = 256;
const searches = new Kept<Search>(MOST_SEARCHES);

const beginOf = (day: CalendarDate): string => endOfBusinessDay(addDays(day, -1));

/** Days are those of São Paulo. */
const filterOf = ({ from, to, refused: _, ...search }: Search): OperationFilter => ({
  ...search,
  ...(from !== undefined && { from: beginOf(from) }),
  ...(to !== undefined && { before: endOfBusinessDay(to) }),
});

const searchAt = (visit: Visit) => {
  const id = visit.query.get('search') ?? undefined;
  const search = id === undefined ? undefined : searches.find(visit, id);
  return { id: search && id, search: search ?? {}, forgotten: id !== undefined && search === undefined };
};

const list = async (visit: Visit, app: Desk): Promise<Answer> => {
  const { id, search, forgotten } = searchAt(visit);
  const after = placeOf(visit.query.get('after'));
  const [found, funds, names] = await Promise.all([
    search.refused
      ? { operations: [], next: undefined }
      : app.loans.search.page({ ...filterOf(search), ...(after && { after }), limit: PAGE_SIZE }),
    app.clients.funds(),
    fundNames(app, visit),
  ]);
  const body = operationsView(
    { ...found, id, search, funds, names, forgotten, continued: after !== undefined },
    visit,
  );
  const { fundId } = search;
  const logged = [{ action: 'listed', count: found.operations.length, ...(fundId && { fundId }) }] as const;
  return { kind: 'page', body, logged, ...(search.refused && { status: 422 }) };
};

/** Every operation that is found, not one page of them. */
const exported = async (visit: Visit, app: Desk): Promise<Answer> => {
  const { search } = searchAt(visit);
  if (search.refused) throw new ConsoleProblem(422, inEach(OPERATIONS, search.refused));
  const columns = withFundNames(LOAN_COLUMNS, await app.funds.names(), (row) => row.fund_id);
  return {
    kind: 'file',
    logged: [{ action: 'exported', ...(search.fundId && { fundId: search.fundId }) }],
    name: `operations-${visit.clock.today()}.csv`,
    mediaType: 'text/csv; charset=utf-8',
    content: printedRows(columns, app.loans.search.every(filterOf(search), visit.signal), csvFor(visit)),
  };
};

export const operationsPage: Page = {
  path: '/operations',
  title: inEach(OPERATIONS, 'title'),
  routes: [
    view('/operations', list),
    query('/operations/search', async (visit) => ({
      kind: 'redirect',
      to: `/operations?search=${searches.keep(visit, searchOf(visit))}`,
    })),
    view('/operations/export', exported),
    ...operationRoutes,
  ],
};
