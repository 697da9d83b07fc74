import { html, empty, tile, pictureOf, tableView } from '../../html.ts';
import type { View, Column } from '../../html.ts';
import type { Desk } from '../../../../application/desk-view/desk.ts';
import { may } from '../../../../application/desk/rights.ts';
import type { Right } from '../../../../application/desk/rights.ts';
import { date, amount } from '../../format.ts';
import { fundNames, fundView } from '../../funds.ts';
import { liveWith } from '../../layout.ts';
import { either } from '../../language.ts';
import { part, view } from '../../page.ts';
import type { Page, Visit } from '../../page.ts';
import { endpointsBody, serviceBody, awaitingBody, overdueBody, waitingBody, sumOf } from './cards.ts';
import { words } from '../words.ts';
import { texts } from './texts.ts';
import type { FallingDue, NotifiedSum } from '../../../../application/administrator/worklists.ts';
import { addDays, daysBetween } from '../../../../domain/shared/calendar-date.ts';
import type { CalendarDate } from '../../../../domain/shared/calendar-date.ts';
import type { PaymentKind } from '../../../../projections/loan/payment-writes.ts';
import type { FundNames } from '../../../../domain/fund/names.ts';
import { withQuery } from '../../paths.ts';

const A_MONDAY = '2024-01-01' as CalendarDate;
const DAYS = 7;

export const weekOf = (today: CalendarDate) => {
  const monday = addDays(today, -(((daysBetween(A_MONDAY, today) % DAYS) + DAYS) % DAYS));
  return { monday, today, sunday: addDays(monday, DAYS - 1) };
};

interface FundWeek {
  readonly fundId: string;
  readonly expected: number;
  readonly notified: Readonly<Record<PaymentKind, number>>;
  readonly total: number;
}

const KINDS: readonly PaymentKind[] = ['settlement', 'prepayment', 'repurchase'];

export const fundWeeks = (
  due: readonly FallingDue[],
  notified: readonly NotifiedSum[],
): readonly FundWeek[] => {
  const dueBy = Map.groupBy(due, ({ fundId }) => fundId);
  const notifiedBy = Map.groupBy(notified, ({ fundId }) => fundId);
  const funds = [...new Set([...dueBy.keys(), ...notifiedBy.keys()])].sort();
  return funds.map((fundId) => {
    const sums = Map.groupBy(notifiedBy.get(fundId) ?? [], ({ kind }) => kind);
    const kinds = KINDS.map((kind) => [kind, sumOf(sums.get(kind) ?? [], (one) => one.amount)] as const);
    return {
      fundId,
      expected: sumOf(dueBy.get(fundId) ?? [], (one) => one.faceValue),
      notified: Object.fromEntries(kinds) as FundWeek['notified'],
      total: sumOf(kinds, ([, amount]) => amount),
    };
  });
};

/** Beyond so many, bars say nothing any more; the table has them all. */
const MOST_DRAWN = 12;
const SHORT = 8;
const SHORT_NAME = 24;

/** Characters as people count them: half of one would be none. */
const labelOf = (fundId: string, names: FundNames): string =>
  [...(names.get(fundId) ?? fundId.slice(0, SHORT))].slice(0, SHORT_NAME).join('');

const pictureOfFunds = (funds: readonly FundWeek[], names: FundNames): View => {
  const drawn = [...funds].sort((a, b) => b.expected + b.total - a.expected - a.total).slice(0, MOST_DRAWN);
  return pictureOf(
    {
      unit: 'cents',
      lying: true,
      labels: drawn.map(({ fundId }) => labelOf(fundId, names)),
      series: [
        { name: texts.expected, meaning: 'open', values: drawn.map(({ expected }) => expected) },
        { name: words.notified, meaning: 'paid', values: drawn.map(({ total }) => total) },
      ],
    },
    texts.picture(
      amount(sumOf(funds, ({ expected }) => expected)),
      amount(sumOf(funds, ({ total }) => total)),
    ),
  );
};

const tableOf = (funds: readonly FundWeek[], names: FundNames): View => {
  const kinds = KINDS.map((kind): Column<FundWeek> => [
    texts.kinds[kind],
    ({ notified }) => amount(notified[kind]),
    'number',
  ]);
  return tableView(
    { titledBy: 'money-title' },
    [
      [
        words.fund,
        ({ fundId }) =>
          html`<a href=${withQuery('/portfolio', { fund: fundId })}>${fundView(fundId, names)}</a>`,
        'code',
      ],
      [texts.expected, ({ expected }) => amount(expected), 'number'],
      ...kinds,
      [texts.total, ({ total }) => amount(total), 'number'],
    ],
    funds,
  );
};

interface Money {
  readonly today: string;
  /** From today until Sunday. */
  readonly due: readonly FallingDue[];
  /** Since Monday. */
  readonly cameIn: readonly NotifiedSum[];
}

export const moneyBody = ({ today, due, cameIn }: Money, names: FundNames): View => {
  const funds = fundWeeks(due, cameIn);
  if (funds.length === 0) return empty(texts.noMoney, texts.noMoneyHelp);
  const dueTile = (name: string, all: readonly FallingDue[]): View =>
    tile(
      name,
      amount(sumOf(all, ({ faceValue }) => faceValue)),
      texts.ofInstallments(sumOf(all, ({ installments }) => installments)),
    );
  const cameInTile = (name: string, all: readonly NotifiedSum[]): View =>
    tile(
      name,
      amount(sumOf(all, (one) => one.amount)),
      texts.ofPayments(sumOf(all, ({ payments }) => payments)),
    );
  const isToday = ({ day }: { readonly day: string }): boolean => day === today;
  return html`
    <div class="tiles">
      ${dueTile(texts.dueToday, due.filter(isToday))} ${dueTile(texts.dueThisWeek, due)}
      ${cameInTile(texts.cameInToday, cameIn.filter(isToday))} ${cameInTile(texts.cameInThisWeek, cameIn)}
    </div>
    ${pictureOfFunds(funds, names)} ${tableOf(funds, names)}
    <p class="quiet">${texts.expectedHelp}</p>
  `;
};

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
      endpointsBody(await webhooks.list([...(await clients.applicationNames()).keys()]), realClock.realNow()),
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

export const todayPage: Page = {
  path: '/',
  title: () => either('Hoje', 'Today'),
  live: true,
  routes: [
    view('/', async (visit, app) => {
      const loading = html`<p aria-busy="true">${texts.loading}</p>`;
      const seen = PARTS.filter(({ needs = 'see' }) => may(visit, needs));
      const cards = seen.map(async (one) =>
        cardOf(one, visit, one.when === 'now' ? await one.body(visit, app) : loading),
      );
      return { kind: 'page', body: html`<div class="cards">${await Promise.all(cards)}</div>` };
    }),
    ...PARTS.map((one) =>
      part(pathOf(one), async (visit, app) => cardOf(one, visit, await one.body(visit, app))),
    ),
  ],
};
