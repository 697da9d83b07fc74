import type { CalendarDate } from '../../../../domain/shared/calendar-date.ts';
import { addDays } from '../../../../domain/shared/calendar-date.ts';
import { endOfBusinessDay } from '../../../../application/portfolio/show-portfolio.ts';
import { query, view } from '../../page.ts';
import type { Answer, Page, Visit } from '../../page.ts';
import type { ConsoleServices, OperationFilter } from '../../services.ts';
import { operationRoutes } from '../operation/page.ts';
import { Searches, searchOf } from './searches.ts';
import type { Search } from './searches.ts';
import { OPERATIONS } from './texts.ts';
import { operationsView, placeOf } from './view.ts';

const PAGE_SIZE = 50;

const searches = new Searches();

const beginOf = (day: CalendarDate): string => endOfBusinessDay(addDays(day, -1));

/** Days are those of São Paulo. */
const filterOf = ({ from, to, ...search }: Search): OperationFilter => ({
  ...search,
  ...(from !== undefined && { from: beginOf(from) }),
  ...(to !== undefined && { before: endOfBusinessDay(to) }),
});

const searchAt = (visit: Visit) => {
  const id = visit.query.get('search') ?? undefined;
  const search = id === undefined ? undefined : searches.find(visit, id);
  return { id: search && id, search: search ?? {}, forgotten: id !== undefined && search === undefined };
};

const list = async (visit: Visit, services: ConsoleServices): Promise<Answer> => {
  const { id, search, forgotten } = searchAt(visit);
  const after = placeOf(visit.query.get('after'));
  const [found, clients] = await Promise.all([
    services.operations.search({ ...filterOf(search), ...(after && { after }), limit: PAGE_SIZE }),
    services.clients(),
  ]);
  const funds = [...new Set(clients.flatMap(({ fundIds }) => fundIds))].toSorted();
  const body = operationsView(
    { ...found, id, search, funds, forgotten, continued: after !== undefined },
    visit,
  );
  return { kind: 'page', body };
};

/** Every operation that is found, not one page of them. */
const exported = async (visit: Visit, services: ConsoleServices): Promise<Answer> => {
  const { search } = searchAt(visit);
  return {
    kind: 'file',
    name: `operations-${services.today()}.csv`,
    mediaType: 'text/csv; charset=utf-8',
    content: services.operations.csv(filterOf(search), visit.signal),
  };
};

export const operationsPage: Page = {
  path: '/operations',
  title: { 'pt-BR': OPERATIONS['pt-BR'].title, en: OPERATIONS.en.title },
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
