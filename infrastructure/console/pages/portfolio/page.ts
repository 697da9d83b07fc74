import type { Desk } from '../../../../application/desk-view/desk.ts';
import type { AnalysedPortfolio } from '../../../../application/portfolio/analysis.ts';
import type { CalendarDate } from '../../../../domain/shared/calendar-date.ts';
import type { Rows } from '../../../presenting/columns.ts';
import { printComposition } from '../../../presenting/composition.ts';
import { printPosition } from '../../../presenting/position.ts';
import type { FundNames } from '../../../../domain/fund/names.ts';
import { csvChoice, csvFor } from '../../csv-choice.ts';
import { dayTyped } from '../../format.ts';
import { fundChoices, fundNames } from '../../funds.ts';
import { html } from '../../html.ts';
import type { View } from '../../html.ts';
import { withQuery } from '../../names.ts';
import { inEach } from '../../language.ts';
import { ConsoleProblem, view } from '../../page.ts';
import type { Answer, Page, Visit } from '../../page.ts';
import { dayField } from '../../typed-fields.ts';
import { WORDS } from '../words.ts';
import { positionView } from './position.ts';
import { PORTFOLIO } from './texts.ts';

const SHOWN_OF_ID = 8;

interface Asked {
  readonly fundId: string | undefined;
  readonly date: CalendarDate;
  readonly against: CalendarDate | undefined;
}

const refused = (): ConsoleProblem => new ConsoleProblem(400, inEach(PORTFOLIO, 'badRequest'));

const dayOf = (text: string): CalendarDate | undefined => {
  if (text === '') return undefined;
  const day = dayTyped(text);
  if (day === undefined) throw refused();
  return day;
};

/** A fund and days say nothing of a borrower, so they stand in the address and can be kept. @throws ConsoleProblem */
const askedOf = ({ query, clock }: Visit): Asked => {
  const fundId = query.get('fund') ?? '';
  if (fundId !== '' && !/^[0-9a-f-]{36}$/.test(fundId)) throw refused();
  return {
    fundId: fundId === '' ? undefined : fundId,
    date: dayOf(query.get('day') ?? '') ?? clock.today(),
    against: dayOf(query.get('against') ?? ''),
  };
};

const form = (
  { fundId, date, against }: Asked,
  { funds, names }: { readonly funds: readonly string[]; readonly names: FundNames },
  visit: Visit,
): View => {
  const [texts, words] = [PORTFOLIO[visit.language], WORDS[visit.language]];
  return html`
    <form method="get" action="/portfolio" class="actions">
      <label>
        ${words.fund}
        <select name="fund" required>
          <option value=""></option>
          ${fundChoices(funds, fundId, names)}
        </select>
      </label>
      <label>${texts.day} ${dayField({ name: 'day', value: date, required: true })}</label>
      <label>${texts.against} ${dayField({ name: 'against', value: against })}</label>
      <button>${texts.show}</button>
    </form>
  `;
};

const addressOf = (path: string, { fundId, date, against }: Asked): string =>
  withQuery(path, { fund: fundId, day: date, against });

/** The page itself is there at once; the position of a large fund is fetched into it. */
const show = async (visit: Visit, app: Desk): Promise<Answer> => {
  const asked = askedOf(visit);
  const [funds, names] = await Promise.all([app.clients.funds(), fundNames(app, visit)]);
  const texts = PORTFOLIO[visit.language];
  return {
    kind: 'page',
    body: html`
      ${form(asked, { funds, names }, visit)}
      ${
        asked.fundId === undefined
          ? html`<p>${texts.choose}</p>`
          : html`<div
                id="position"
                aria-live="polite"
                ...${{ 'hx-get': addressOf('/portfolio/position', asked), 'hx-trigger': 'load' }}
              >
                <p aria-busy="true">${texts.computing}</p>
              </div>
              ${csvChoice(visit)}`
      }
    `,
  };
};

const positionPart = async (visit: Visit, app: Desk): Promise<Answer> => {
  const asked = askedOf(visit);
  const { fundId, date, against } = asked;
  if (fundId === undefined) throw refused();
  const analysed = await app.portfolio.analyse(fundId, date);
  const other = against && (await app.portfolio.analyse(fundId, against));
  return {
    kind: 'part',
    body: positionView({
      language: visit.language,
      analysed,
      against: other,
      names: distinct(await app.clients.applicationNames()),
      documents: await app.portfolio.documentsOf(analysed),
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
  (
    name: string,
    written: (
      analysed: AnalysedPortfolio,
      portfolio: Desk['portfolio'],
      visit: Visit,
    ) => Promise<Rows<string>> | Rows<string>,
  ) =>
  async (visit: Visit, app: Desk): Promise<Answer> => {
    const { fundId, date } = askedOf(visit);
    if (fundId === undefined) throw refused();
    const analysed = await app.portfolio.analyse(fundId, date);
    return {
      kind: 'file',
      name: `${name}-${date}.csv`,
      mediaType: 'text/csv; charset=utf-8',
      content: await written(analysed, app.portfolio, visit),
    };
  };

const positionCsv = ({ position }: AnalysedPortfolio, _: unknown, visit: Visit): Rows<string> =>
  printPosition(position, csvFor(visit));

const compositionCsv = async (
  analysed: AnalysedPortfolio,
  portfolio: Desk['portfolio'],
  visit: Visit,
): Promise<Rows<string>> => printComposition(analysed, await portfolio.documentsOf(analysed), csvFor(visit));

/** What a fund holds and gets, on any day, and against another one. */
export const portfolioPage: Page = {
  path: '/portfolio',
  title: inEach(PORTFOLIO, 'title'),
  routes: [
    view('/portfolio', show),
    view('/portfolio/position', positionPart),
    view('/portfolio/export', exported('portfolio', positionCsv)),
    view('/portfolio/composition', exported('portfolio-composition', compositionCsv)),
  ],
};
