import { LRUCache } from 'lru-cache';
import type { Desk } from '../../../../application/desk-view/desk.ts';
import type { AnalysedPortfolio } from '../../../../application/portfolio/composition.ts';
import type { Rows } from '../../../presenting/columns.ts';
import { printComposition, printPosition } from '../../../presenting/position.ts';
import type { FundNames } from '../../../../domain/fund/names.ts';
import { csvChoice, csvFor, leftOutView, reportFile } from '../../files.ts';
import { listing } from '../../desk-log.ts';
import { fundOptions, fundNames } from '../../funds.ts';
import { html, tile, tableView } from '../../html.ts';
import type { View, Column } from '../../html.ts';
import { view, ConsoleProblem, typedOr } from '../../page.ts';
import type { Answer, Page, Visit } from '../../page.ts';
import { choiceField, dayField } from '../../forms.ts';
import type { Option } from '../../forms.ts';
import { words } from '../words.ts';
import { positionView } from './position.ts';
import { daysOf, monthName } from './composition.ts';
import type { Shown } from './composition.ts';
import { texts } from './texts.ts';
import { HELD_BY } from '../../../../application/portfolio/held.ts';
import type { HeldOperation, HeldPart } from '../../../../application/portfolio/held.ts';
import { summing, OVERDUE_BUCKETS } from '../../../../application/portfolio/position.ts';
import { amount, count, date, statusName, dayTyped } from '../../format.ts';
import { operationLink, withQuery } from '../../paths.ts';
import { together } from '../../../../application/portfolio/together.ts';
import type { CalendarDate } from '../../../../domain/shared/calendar-date.ts';

/** Stands for all funds that the person may see. */
const ALL = 'all';

interface Asked {
  readonly fund: string | undefined;
  readonly date: CalendarDate;
  readonly against: CalendarDate | undefined;
}

const refused = (): ConsoleProblem => new ConsoleProblem(400, () => texts.badRequest);

/** A fund and days say nothing of a borrower, so they stand in the address and can be kept. @throws ConsoleProblem */
const askedOf = ({ query, clock }: Visit): Asked => {
  const fund = query.get('fund') ?? '';
  if (fund !== '' && fund !== ALL && !/^[0-9a-f-]{36}$/.test(fund)) throw refused();
  return {
    fund: fund === '' ? undefined : fund,
    date: typedOr(query.get('day') ?? '', dayTyped, refused) ?? clock.today(),
    against: typedOr(query.get('against') ?? '', dayTyped, refused),
  };
};

const addressOf = (path: string, { fund, date, against }: Asked): string =>
  withQuery(path, { fund, day: date, against });

const drillOf = ({ fund, date }: Pick<Asked, 'fund' | 'date'>, { by, value }: HeldPart): string =>
  withQuery('/portfolio/operations', { fund, day: date, by, value });

const FORMS: Readonly<Partial<Record<HeldPart['by'], RegExp>>> = {
  late: new RegExp(`^(0|all|${OVERDUE_BUCKETS.map(({ from }) => from).join('|')})$`),
  month: /^\d{4}-\d{2}$/,
};

/** @throws ConsoleProblem */
const partOf = ({ query }: Visit): HeldPart => {
  const by = HELD_BY.find((one) => one === query.get('by'));
  const value = query.get('value') ?? undefined;
  if (by === undefined || FORMS[by]?.test(value ?? '') === false) throw refused();
  return { by, value };
};

/** Of all funds those that the person sees. @throws ConsoleProblem where no fund is asked for */
const fundsOf = async ({ fund }: Asked, { clients }: Pick<Desk, 'clients'>): Promise<readonly string[]> => {
  if (fund === undefined) throw refused();
  return fund === ALL ? clients.funds() : [fund];
};

/** One after another: each of them may take seconds. */
const analysedOf = (funds: readonly string[], date: CalendarDate, { portfolio }: Desk) =>
  Array.fromAsync(funds, (fundId) => portfolio.analyse(fundId, date));

const asOne = (all: readonly AnalysedPortfolio[]): AnalysedPortfolio => {
  const [only, ...others] = all;
  if (only === undefined) throw refused();
  return others.length === 0 ? only : together(all);
};

const MOST_SHOWN = 200;

type FoundOperation = HeldOperation & { readonly fundId: string };

const lateName = (value: string): string => {
  if (value === '0') return texts.notDue;
  return value === 'all' ? texts.overdue : `${words.daysLate}: ${daysOf(Number(value))}`;
};

const nameOf = ({ by, value }: HeldPart, applications: ReadonlyMap<string, string>): string => {
  if (value === undefined) return texts.unknown;
  const names: Readonly<Record<HeldPart['by'], () => string>> = {
    late: () => lateName(value),
    month: () => texts.dueIn(monthName(value)),
    application: () => `${words.application}: ${applications.get(value) ?? value}`,
    state: () => `${texts.state}: ${statusName(value)}`,
    product: () => `${words.product}: ${value}`,
  };
  return names[by]();
};

const operationsView = async (visit: Visit, app: Desk): Promise<Answer> => {
  const [asked, part] = [askedOf(visit), partOf(visit)];
  const funds = await fundsOf(asked, app);
  const held = await Array.fromAsync(funds, async (fundId) => ({
    fundId,
    ...(await app.portfolio.held(fundId, asked.date, part, MOST_SHOWN)),
  }));
  const sums = summing('operations', 'installments', 'faceValue', 'presentValue')(held);
  const found = held.flatMap(({ fundId, largest }) => largest.map((one) => ({ ...one, fundId })));
  const [applications, names] = await Promise.all([app.clients.applicationNames(), fundNames(app, visit)]);
  const shown = found.toSorted((one, other) => other.presentValue - one.presentValue).slice(0, MOST_SHOWN);
  const columns: readonly Column<FoundOperation>[] = [
    [words.operation, operationLink],
    [words.application, ({ applicationId }) => applications.get(applicationId) ?? applicationId],
    ...(funds.length > 1
      ? [[words.fund, ({ fundId }) => names.get(fundId) ?? fundId] satisfies Column<FoundOperation>]
      : []),
    [words.installments, ({ installments }) => count(installments), 'number'],
    [words.faceValue, ({ faceValue }) => amount(faceValue), 'number'],
    [texts.presentValue, ({ presentValue }) => amount(presentValue), 'number'],
  ];
  return {
    kind: 'page',
    title: nameOf(part, applications),
    logged: listing(shown.length, funds.length === 1 ? funds[0] : undefined),
    body: html`
      <p><a href=${addressOf('/portfolio', asked)}>← ${texts.title}</a> ${date(asked.date)}</p>
      <div class="tiles small">
        ${tile(texts.operations, count(sums.operations))}
        ${tile(words.installments, count(sums.installments))} ${tile(words.faceValue, amount(sums.faceValue))}
        ${tile(texts.presentValue, amount(sums.presentValue))}
      </div>
      ${await leftOutView(app, funds)} ${tableView({ label: texts.operations, dense: true }, columns, shown)}
      ${sums.operations > shown.length && html`<p><small>${texts.largestShown(count(shown.length))}</small></p>`}
    `,
  };
};

const SHOWN_OF_ID = 8;
const MOST_SESSIONS = 1_000;

/** By session, which fund was looked at last. */
const lastFund = new LRUCache<string, string>({ max: MOST_SESSIONS });

const form = (
  { fund, date, against }: Asked,
  { funds, names }: { readonly funds: readonly string[]; readonly names: FundNames },
): View => {
  const all: readonly Option[] = funds.length > 1 ? [[ALL, texts.allFunds]] : [];
  return html`
    <form method="get" action="/portfolio" class="actions">
      ${choiceField(words.fund, 'fund', { options: [['', ''], ...all, ...fundOptions(funds, names)], chosen: fund }, { attributes: { required: true } })}
      ${dayField(words.positionOn, { name: 'day', value: date, required: true })}
      ${dayField(texts.against, { name: 'against', value: against })}
      <button>${words.show}</button>
    </form>
  `;
};

const chosenBefore = (visit: Visit, funds: readonly string[]): string | undefined => {
  const before = lastFund.get(visit.formToken);
  if (before === ALL || funds.includes(before ?? '')) return before;
  return funds.length === 1 ? funds[0] : undefined;
};

/** The page itself is there at once; the position of a large fund is fetched into it. */
const show = async (visit: Visit, app: Desk): Promise<Answer> => {
  const [funds, names] = await Promise.all([app.clients.funds(), fundNames(app, visit)]);
  const typed = askedOf(visit);
  const asked = { ...typed, fund: typed.fund ?? chosenBefore(visit, funds) };
  if (typed.fund === ALL || funds.includes(typed.fund ?? '')) lastFund.set(visit.formToken, typed.fund);
  return {
    kind: 'page',
    body: html`
      ${form(asked, { funds, names })}
      ${
        asked.fund === undefined
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
  const { date, against } = asked;
  const funds = await fundsOf(asked, app);
  const all = await analysedOf(funds, date, app);
  const other = against && asOne(await analysedOf(funds, against, app));
  const documents = await Promise.all(all.map((one) => app.portfolio.documentsOf(one)));
  const isOne = asked.fund !== ALL;
  return {
    kind: 'part',
    shows: documents.flatMap((one) => [...one.keys()]),
    body: [
      await leftOutView(app, funds),
      positionView({
        analysed: asOne(all),
        against: other,
        names: distinct(await app.clients.applicationNames()),
        documents: new Map(documents.flatMap((one) => [...one])),
        drill: (part) => drillOf(asked, part),
        byFund: isOne ? [] : await fundRows(asked, all, visit, app),
        exports: isOne
          ? {
              position: addressOf('/portfolio/export', asked),
              composition: addressOf('/portfolio/composition', asked),
            }
          : undefined,
      }),
    ],
  };
};

const fundRows = async (
  asked: Asked,
  all: readonly AnalysedPortfolio[],
  visit: Visit,
  app: Desk,
): Promise<Shown['byFund']> => {
  const names = await fundNames(app, visit);
  const largestFirst = all.toSorted((a, b) => b.position.open.presentValue - a.position.open.presentValue);
  return largestFirst.map(({ position }) => ({
    name: names.get(position.fundId) ?? position.fundId,
    path: addressOf('/portfolio', { ...asked, fund: position.fundId }),
    position,
  }));
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

const exported =
  (
    name: string,
    written: (analysed: AnalysedPortfolio, visit: Visit, app: Desk) => Promise<Rows<string>> | Rows<string>,
  ) =>
  async (visit: Visit, app: Desk): Promise<Answer> => {
    const { fund, date } = askedOf(visit);
    if (fund === undefined || fund === ALL) throw refused();
    const analysed = await app.portfolio.analyse(fund, date);
    const rows = await written(analysed, visit, app);
    return reportFile(app, { name: `${name}-${date}.csv`, rows, funds: [fund] });
  };

const positionCsv = exported('portfolio', ({ position }, visit) => printPosition(position, csvFor(visit)));

const compositionCsv = exported('portfolio-composition', async (analysed, visit, { portfolio }) =>
  printComposition(analysed, await portfolio.documentsOf(analysed), csvFor(visit)),
);

export const portfolioPage: Page = {
  path: '/portfolio',
  title: () => texts.title,
  routes: [
    view('/portfolio', show),
    view('/portfolio/position', positionPart),
    view('/portfolio/operations', operationsView),
    view('/portfolio/export', positionCsv),
    view('/portfolio/composition', compositionCsv),
  ],
};
