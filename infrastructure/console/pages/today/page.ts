import type { Desk } from '../../../../application/desk-view/desk.ts';
import { may } from '../../../../application/desk/rights.ts';
import { fundNames } from '../../funds.ts';
import { html } from '../../html.ts';
import type { View } from '../../html.ts';
import { view } from '../../page.ts';
import type { Page, Visit } from '../../page.ts';
import { fundWeeks, moneyView, weekOf } from './money.ts';
import { endpointsView, lagAsked, lagView } from './service.ts';
import { waitingView } from './waiting.ts';

type Part = (visit: Visit, app: Desk) => Promise<View>;

const waiting: Part = async (visit, app) => {
  const [groups, names] = await Promise.all([app.administrator.worklists.waiting(), fundNames(app, visit)]);
  return waitingView(groups, names, visit.language, visit.clock.now());
};

const money: Part = async (visit, app) => {
  const { language, clock } = visit;
  const week = weekOf(clock.today());
  const [due, notified, names] = await Promise.all([
    app.administrator.worklists.fallingDue(week.today, week.sunday),
    app.administrator.worklists.notified(week.monday, week.sunday),
    fundNames(app, visit),
  ]);
  return moneyView(fundWeeks(due, notified), names, week, language);
};

const endpoints: Part = async ({ language, realClock }, { clients, webhooks }) =>
  endpointsView(await webhooks.list(await clients.applications()), language, realClock.realNow());

const lag: Part = async ({ language, realClock }, app) =>
  lagView(await app.maintenance.lag(), language, realClock.realNow());

const partAt = (path: string, part: Part) =>
  view(path, async (visit, app) => ({ kind: 'part', body: await part(visit, app) }));

export const todayPage: Page = {
  path: '/',
  title: { 'pt-BR': 'Hoje', en: 'Today' },
  live: true,
  routes: [
    view('/', async (visit, app) => {
      const parts = await Promise.all([waiting, money, endpoints].map((part) => part(visit, app)));
      return { kind: 'page', body: html`${parts} ${may(visit, 'service') && lagAsked(visit.language)}` };
    }),
    partAt('/today/waiting', waiting),
    partAt('/today/money', money),
    partAt('/today/endpoints', endpoints),
    partAt('/today/lag', lag),
  ],
};
