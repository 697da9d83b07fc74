import type { FallingDue, NotifiedSum } from '../../../../application/administrator/worklists.ts';
import { addDays, daysBetween } from '../../../../domain/shared/calendar-date.ts';
import type { CalendarDate } from '../../../../domain/shared/calendar-date.ts';
import type { PaymentKind } from '../../../../projections/loan/payment-writes.ts';
import { amount } from '../../format.ts';
import type { FundNames } from '../../../../domain/fund/names.ts';
import { fundView } from '../../funds.ts';
import { empty, html, tile, pictureOf, tableView } from '../../html.ts';
import type { View, Column } from '../../html.ts';
import { withQuery } from '../../paths.ts';
import { words } from '../words.ts';
import { texts } from './texts.ts';
import { sumOf } from './cards.ts';

const A_MONDAY = '2024-01-01' as CalendarDate;
const DAYS = 7;

interface Week {
  readonly monday: CalendarDate;
  readonly today: CalendarDate;
  readonly sunday: CalendarDate;
}

export const weekOf = (today: CalendarDate): Week => {
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

const labelOf = (fundId: string, names: FundNames): string =>
  names.get(fundId)?.slice(0, SHORT_NAME) ?? fundId.slice(0, SHORT);

const pictureOfFunds = (funds: readonly FundWeek[], names: FundNames): View => {
  const drawn = [...funds].sort((a, b) => b.expected + b.total - a.expected - a.total).slice(0, MOST_DRAWN);
  return pictureOf(
    {
      kind: 'bar',
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
