import { html } from '../../html.ts';
import type { View } from '../../html.ts';
import { view } from '../../page.ts';
import type { Page, Visit } from '../../page.ts';
import type { ConsoleServices } from '../../services.ts';
import { fundWeeks, moneyView, weekOf } from './money.ts';
import { endpointsView, lagAsked, lagView } from './service.ts';
import { waitingView } from './waiting.ts';

type Part = (visit: Visit, services: ConsoleServices) => Promise<View>;

const waiting: Part = async ({ language }, services) =>
  waitingView(await services.desk.waiting(), language, services.now());

const money: Part = async ({ language }, services) => {
  const week = weekOf(services.today());
  const [due, notified] = await Promise.all([
    services.desk.fallingDue(week.today, week.sunday),
    services.desk.notified(week.monday, week.sunday),
  ]);
  return moneyView(fundWeeks(due, notified), week, language);
};

const endpoints: Part = async ({ language }, services) =>
  endpointsView(await services.endpoints(), language, services.realNow());

const lag: Part = async ({ language }, services) =>
  lagView(await services.lag(), language, services.realNow());

const partAt = (path: string, part: Part) =>
  view(path, async (visit, services) => ({ kind: 'part', body: await part(visit, services) }));

export const todayPage: Page = {
  path: '/',
  title: { 'pt-BR': 'Hoje', en: 'Today' },
  live: true,
  routes: [
    view('/', async (visit, services) => {
      const parts = await Promise.all([waiting, money, endpoints].map((part) => part(visit, services)));
      return { kind: 'page', body: html`${parts} ${lagAsked(visit.language)}` };
    }),
    partAt('/today/waiting', waiting),
    partAt('/today/money', money),
    partAt('/today/endpoints', endpoints),
    partAt('/today/lag', lag),
  ],
};
