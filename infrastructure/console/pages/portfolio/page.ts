import { isCalendarDate } from '../../../../domain/shared/calendar-date.ts';
import type { CalendarDate } from '../../../../domain/shared/calendar-date.ts';
import { html } from '../../html.ts';
import type { View } from '../../html.ts';
import { withQuery } from '../../names.ts';
import { ConsoleProblem, view } from '../../page.ts';
import type { Answer, Page, Visit } from '../../page.ts';
import type { ConsoleServices } from '../../services.ts';
import { WORDS } from '../words.ts';
import { positionView } from './position.ts';
import { PORTFOLIO } from './texts.ts';

const SHOWN_OF_ID = 8;

interface Asked {
  readonly fundId: string | undefined;
  readonly date: CalendarDate;
  readonly against: CalendarDate | undefined;
}

const refused = (): ConsoleProblem =>
  new ConsoleProblem(400, { 'pt-BR': PORTFOLIO['pt-BR'].badRequest, en: PORTFOLIO.en.badRequest });

const dayOf = (text: string): CalendarDate | undefined => {
  if (text === '') return undefined;
  if (!isCalendarDate(text)) throw refused();
  return text;
};

/** A fund and days say nothing of a borrower, so they stand in the address and can be kept. @throws ConsoleProblem */
const askedOf = ({ query }: Visit, services: ConsoleServices): Asked => {
  const fundId = query.get('fund') ?? '';
  if (fundId !== '' && !/^[0-9a-f-]{36}$/.test(fundId)) throw refused();
  return {
    fundId: fundId === '' ? undefined : fundId,
    date: dayOf(query.get('day') ?? '') ?? services.today(),
    against: dayOf(query.get('against') ?? ''),
  };
};

const form = ({ fundId, date, against }: Asked, funds: readonly string[], visit: Visit): View => {
  const [texts, words] = [PORTFOLIO[visit.language], WORDS[visit.language]];
  return html`
    <form method="get" action="/portfolio" class="actions">
      <label>
        ${words.fund}
        <select name="fund" required>
          <option value=""></option>
          ${funds.map((one) => html`<option value=${one} selected=${one === fundId}>${one}</option>`)}
        </select>
      </label>
      <label>${texts.day} <input type="date" name="day" value=${date} required /></label>
      <label>${texts.against} <input type="date" name="against" value=${against ?? ''} /></label>
      <button>${texts.show}</button>
    </form>
  `;
};

const addressOf = (path: string, { fundId, date, against }: Asked): string =>
  withQuery(path, { fund: fundId, day: date, against });

/** The page itself is there at once; the position of a large fund is fetched into it. */
const show = async (visit: Visit, services: ConsoleServices): Promise<Answer> => {
  const asked = askedOf(visit, services);
  const clients = await services.clients();
  const funds = [...new Set(clients.flatMap(({ fundIds }) => fundIds))].toSorted();
  const texts = PORTFOLIO[visit.language];
  return {
    kind: 'page',
    body: html`
      ${form(asked, funds, visit)}
      ${
        asked.fundId === undefined
          ? html`<p>${texts.choose}</p>`
          : html`<div
              id="position"
              aria-live="polite"
              ...${{ 'hx-get': addressOf('/portfolio/position', asked), 'hx-trigger': 'load' }}
            >
              <p aria-busy="true">${texts.computing}</p>
            </div>`
      }
    `,
  };
};

const position = async (visit: Visit, services: ConsoleServices): Promise<Answer> => {
  const asked = askedOf(visit, services);
  const { fundId, date, against } = asked;
  if (fundId === undefined) throw refused();
  const analysed = await services.portfolio.analyse({ fundId, date });
  const other = against && (await services.portfolio.analyse({ fundId, date: against }));
  const clients = await services.clients();
  const names = new Map(clients.map(({ applicationId, name }) => [applicationId, name]));
  return {
    kind: 'part',
    body: positionView({
      language: visit.language,
      analysed,
      against: other,
      names: distinct(names),
      documents: await services.portfolio.documents(
        analysed.concentration.borrowers.map(({ largest }) => largest.stream),
      ),
      exports: {
        position: addressOf('/portfolio/export', asked),
        composition: addressOf('/portfolio/composition', asked),
      },
    }),
  };
};

/** Applications whose clients share a name are told apart by the beginning of their id. */
const distinct = (names: ReadonlyMap<string, string>): ReadonlyMap<string, string> => {
  const uses = Map.groupBy(names.values(), (name) => name);
  return new Map(
    [...names].map(([id, name]) => [
      id,
      uses.get(name)!.length > 1 ? `${name} (${id.slice(0, SHOWN_OF_ID)}…)` : name,
    ]),
  );
};

/** A file of what `written` makes of the position. */
const exported =
  (name: string, written: 'csv' | 'compositionCsv') =>
  async (visit: Visit, services: ConsoleServices): Promise<Answer> => {
    const { fundId, date } = askedOf(visit, services);
    if (fundId === undefined) throw refused();
    const analysed = await services.portfolio.analyse({ fundId, date });
    return {
      kind: 'file',
      name: `${name}-${date}.csv`,
      mediaType: 'text/csv; charset=utf-8',
      content: services.portfolio[written](analysed),
    };
  };

/** What a fund holds and gets, on any day, and against another one. */
export const portfolioPage: Page = {
  path: '/portfolio',
  title: { 'pt-BR': PORTFOLIO['pt-BR'].title, en: PORTFOLIO.en.title },
  routes: [
    view('/portfolio', show),
    view('/portfolio/position', position),
    view('/portfolio/export', exported('portfolio', 'csv')),
    view('/portfolio/composition', exported('portfolio-composition', 'compositionCsv')),
  ],
};
