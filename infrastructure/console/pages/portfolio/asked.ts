import type { Desk } from '../../../../application/desk-view/desk.ts';
import type { AnalysedPortfolio } from '../../../../application/portfolio/composition.ts';
import { HELD_BY } from '../../../../application/portfolio/held.ts';
import type { HeldPart } from '../../../../application/portfolio/held.ts';
import { OVERDUE_BUCKETS } from '../../../../application/portfolio/position.ts';
import { together } from '../../../../application/portfolio/together.ts';
import type { CalendarDate } from '../../../../domain/shared/calendar-date.ts';
import { dayTyped } from '../../format.ts';
import { withQuery } from '../../paths.ts';
import { ConsoleProblem, typedOr } from '../../page.ts';
import type { Visit } from '../../page.ts';
import { texts } from './texts.ts';

/** Stands for all funds that the person may see. */
export const ALL = 'all';

export interface Asked {
  readonly fund: string | undefined;
  readonly date: CalendarDate;
  readonly against: CalendarDate | undefined;
}

export const refused = (): ConsoleProblem => new ConsoleProblem(400, () => texts.badRequest);

/** A fund and days say nothing of a borrower, so they stand in the address and can be kept. @throws ConsoleProblem */
export const askedOf = ({ query, clock }: Visit): Asked => {
  const fund = query.get('fund') ?? '';
  if (fund !== '' && fund !== ALL && !/^[0-9a-f-]{36}$/.test(fund)) throw refused();
  return {
    fund: fund === '' ? undefined : fund,
    date: typedOr(query.get('day') ?? '', dayTyped, refused) ?? clock.today(),
    against: typedOr(query.get('against') ?? '', dayTyped, refused),
  };
};

export const addressOf = (path: string, { fund, date, against }: Asked): string =>
  withQuery(path, { fund, day: date, against });

export const drillOf = ({ fund, date }: Pick<Asked, 'fund' | 'date'>, { by, value }: HeldPart): string =>
  withQuery('/portfolio/operations', { fund, day: date, by, value });

const FORMS: Readonly<Partial<Record<HeldPart['by'], RegExp>>> = {
  late: new RegExp(`^(0|all|${OVERDUE_BUCKETS.map(({ from }) => from).join('|')})$`),
  month: /^\d{4}-\d{2}$/,
};

/** @throws ConsoleProblem */
export const partOf = ({ query }: Visit): HeldPart => {
  const by = HELD_BY.find((one) => one === query.get('by'));
  const value = query.get('value') ?? undefined;
  if (by === undefined || FORMS[by]?.test(value ?? '') === false) throw refused();
  return { by, value };
};

/** Of all funds those that the person sees. @throws ConsoleProblem where no fund is asked for */
export const fundsOf = async (
  { fund }: Asked,
  { clients }: Pick<Desk, 'clients'>,
): Promise<readonly string[]> => {
  if (fund === undefined) throw refused();
  return fund === ALL ? clients.funds() : [fund];
};

/** One after another: each of them may take seconds. */
export const analysedOf = async (
  funds: readonly string[],
  date: CalendarDate,
  { portfolio }: Pick<Desk, 'portfolio'>,
): Promise<readonly AnalysedPortfolio[]> => {
  const all: AnalysedPortfolio[] = [];
  for (const fundId of funds) all.push(await portfolio.analyse(fundId, date));
  return all;
};

export const asOne = (all: readonly AnalysedPortfolio[]): AnalysedPortfolio => {
  const [only, ...others] = all;
  if (only === undefined) throw refused();
  return others.length === 0 ? only : together(all);
};
