import { html } from '../../html.ts';
import type { View } from '../../html.ts';
import type { Desk } from '../../../../application/desk-view/desk.ts';
import { may } from '../../../../application/desk/rights.ts';
import type { Right } from '../../../../application/desk/rights.ts';
import { date } from '../../format.ts';
import { fundNames } from '../../funds.ts';
import { liveWith } from '../../layout.ts';
import { either } from '../../language.ts';
import { part, view } from '../../page.ts';
import type { Page, Visit } from '../../page.ts';
import { moneyBody, weekOf } from './money.ts';
import { endpointsBody, serviceBody, awaitingBody, overdueBody, waitingBody } from './cards.ts';
import { words } from '../words.ts';
import { texts } from './texts.ts';

interface Part {
  readonly id: string;
  readonly title: (visit: Visit) => string;
  readonly to?: string;
  readonly wide?: true;
  /** Default: to see anything. */
  readonly needs?: Right;
  /** now: with the page. later: the page does not wait for it. often: and it changes without a change of what is shown elsewhere. */
  readonly when: 'now' | 'later' | 'often';
  readonly body: (visit: Visit, app: Desk) => Promise<View>;
}

const CHANGED = 'changed from:#live';
const TRIGGERS: Readonly<Record<Part['when'], string>> = {
  now: CHANGED,
  later: `load, ${CHANGED}`,
  often: `load, ${CHANGED}, every 10s`,
};

const PARTS: readonly Part[] = [
  {
    id: 'waiting',
    title: () => texts.waiting,
    to: '/decisions',
    when: 'now',
    async body(visit, app) {
      const groups = await app.administrator.worklists.waiting();
      return waitingBody(groups, await fundNames(app, visit), visit.clock.now());
    },
  },
  {
    id: 'overdue',
    title: () => texts.overdue,
    to: '/operations?overdue=true',
    when: 'later',
    async body(visit, app) {
      const overdue = await app.administrator.worklists.overdue(visit.clock.today());
      return overdueBody(overdue, await fundNames(app, visit));
    },
  },
  {
    id: 'money',
    title({ clock }) {
      const { monday, sunday } = weekOf(clock.today());
      return texts.week(date(monday), date(sunday));
    },
    to: '/portfolio',
    wide: true,
    when: 'later',
    async body(visit, app) {
      const { today, monday, sunday } = weekOf(visit.clock.today());
      const { worklists } = app.administrator;
      const [due, cameIn, names] = await Promise.all([
        worklists.fallingDue(today, sunday),
        worklists.notified(monday, sunday),
        fundNames(app, visit),
      ]);
      return moneyBody({ today, due, cameIn }, names);
    },
  },
  {
    id: 'awaiting',
    title: () => words.awaitingAnother,
    to: '/awaiting',
    when: 'later',
    async body(visit, { administrator }) {
      const [all, { rules }] = await Promise.all([
        administrator.confirmations.awaiting(),
        administrator.rules.current(),
      ]);
      return awaitingBody(all, rules.size > 0, visit.clock.now());
    },
  },
  {
    id: 'endpoints',
    title: () => texts.endpoints,
    to: '/webhooks?show=failing',
    when: 'now',
    body: async ({ realClock }, { clients, webhooks }) =>
      endpointsBody(await webhooks.list(await clients.applications()), realClock.realNow()),
  },
  {
    id: 'service',
    title: () => texts.service,
    needs: 'service',
    // Looking for the service may take longer than a page should.
    when: 'often',
    body: async ({ realClock }, { maintenance }) =>
      serviceBody(await maintenance.health(), realClock.realNow()),
  },
];

const pathOf = ({ id }: Part): string => `/today/${id}`;

/** What it sums up, with the way to its list. One that has a problem comes before the others. */
const cardOf = (one: Part, visit: Visit, body: View): View => {
  const { id, to, wide, when } = one;
  const title = one.title(visit);
  const live = { ...liveWith(pathOf(one)), 'hx-trigger': TRIGGERS[when] };
  return html`<section
    id=${id}
    class=${wide ? 'card wide' : 'card'}
    aria-labelledby=${`${id}-title`}
    ...${live}
  >
    <h2 id=${`${id}-title`}>${to === undefined ? title : html`<a href=${to}>${title}</a>`}</h2>
    ${body}
  </section>`;
};

const asked = (): View => html`<p aria-busy="true">${texts.loading}</p>`;

export const todayPage: Page = {
  path: '/',
  title: () => either('Hoje', 'Today'),
  live: true,
  routes: [
    view('/', async (visit, app) => {
      const seen = PARTS.filter(({ needs = 'see' }) => may(visit, needs));
      const cards = seen.map(async (one) =>
        cardOf(one, visit, one.when === 'now' ? await one.body(visit, app) : asked()),
      );
      return { kind: 'page', body: html`<div class="cards">${await Promise.all(cards)}</div>` };
    }),
    ...PARTS.map((one) =>
      part(pathOf(one), async (visit, app) => cardOf(one, visit, await one.body(visit, app))),
    ),
  ],
};
