import type { Desk } from '../../../../application/desk-view/desk.ts';
import type { FoundOperations } from '../../../../application/loans/search-operations.ts';
import { printedRows } from '../../../presenting/columns.ts';
import { withFundNames } from '../../../presenting/fund-names.ts';
import { LOAN_COLUMNS } from '../../../presenting/loan-columns.ts';
import { csvFor } from '../../files.ts';
import { fundNames } from '../../funds.ts';
import { ConsoleProblem, query, textFile, view } from '../../page.ts';
import type { Answer, Page, Visit } from '../../page.ts';
import { placeIn } from '../../paths.ts';
import { operationRoutes } from '../operation/page.ts';
import { addressFor, filterOf, searchAt } from './searches.ts';
import { texts } from './texts.ts';
import { PAGE_SIZE, PLACE, operationsView } from './view.ts';

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
  const fundId = refused ? undefined : typed.fund;
  const logged = [{ action: 'listed', count: found.operations.length, ...(fundId && { fundId }) }] as const;
  const shows = found.operations.map((one) => `${one.application_id}/${one.code}`);
  return { kind: 'page', body, logged, shows, ...(refused && { status: 422 }) };
};

const exported = async (visit: Visit, app: Desk): Promise<Answer> => {
  const search = searchAt(visit);
  const { refused, forgotten, typed } = search;
  if (refused) throw new ConsoleProblem(422, () => texts[refused]);
  if (forgotten) throw new ConsoleProblem(410, () => texts.forgotten);
  const columns = withFundNames(LOAN_COLUMNS, await app.funds.names(), (row) => row.fund_id);
  const rows = printedRows(columns, app.loans.search.every(filterOf(search), visit.signal), csvFor(visit));
  return {
    ...textFile(`operations-${visit.clock.today()}.csv`, rows),
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
