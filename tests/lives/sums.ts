import type { StatementFormat } from '../../application/reconciliation/statements.ts';
import { calendarDate } from '../../domain/shared/calendar-date.ts';
import { differences } from './compare.ts';
import type { Living } from './live.ts';
import type { Book, Part } from './model/book.ts';
import { dayAfter, isBeyond, valuation } from './model/curve.ts';

interface Received {
  readonly flow: string;
  readonly date: string;
  readonly amount: number;
  readonly net: number;
  readonly installments: number;
  readonly reference: string;
}

const FLOW_OF: Readonly<Record<string, string>> = {
  ...{ repurchase: 'repurchased', integrated_repurchase: 'repurchased' },
  ...{ cession_reversal: 'reversed', resolution: 'resolved' },
};
const FLOWS = ['settled', 'prepaid', 'repurchased', 'reversed', 'resolved'];

const receivedOf = ({ code, parts, prepayments, repurchase }: Book): readonly Received[] => [
  ...parts.flatMap(({ code: part, status, paid }) => {
    if (status !== 'settled') return [];
    const { at: date, value: amount } = paid!;
    return [{ flow: 'settled', date, amount, net: amount, installments: 1, reference: `${code}/${part}` }];
  }),
  ...prepayments.map(({ value, date, codes, excess }) => ({
    ...{ flow: 'prepaid', date, amount: value, net: value - excess },
    ...{ installments: codes.length, reference: code },
  })),
  // Told when it is asked for; the portfolio counts it once it is processed.
  ...(repurchase
    ? [
        {
          ...{
            flow: repurchase.completedAt ? FLOW_OF[repurchase.reason]! : 'pending',
            date: repurchase.effective,
            amount: repurchase.value,
          },
          ...{ net: repurchase.value, installments: 0, reference: code },
        },
      ]
    : []),
];

const heldOn = (books: ReadonlyMap<string, Book>, book: Book, date: string): readonly Part[] => {
  const { paidOut, repurchase, renegotiation, parts } = book;
  const left =
    renegotiation?.role === 'original'
      ? books.get(renegotiation.terms.next)?.paidOut?.date
      : repurchase?.completedAt && repurchase.effective;
  if (!paidOut || paidOut.date > date || (left && left <= date)) return [];
  return parts.flatMap((part) =>
    part.paid && part.paid.at <= date
      ? []
      : [{ ...part, credits: part.credits.filter(({ date: paid }) => paid <= date) }],
  );
};

/** Of integer cents, by what was posted and how the model values it. */
const positionOf = (living: Living, fund: string, date: string): object => {
  const { books } = living.model;
  const own = [...books.values()].filter((book) => book.fund === fund);
  const held = own
    .map((book) => [book, heldOn(books, book, date)] as const)
    .filter(([, { length }]) => length);
  const values = held.map(([{ v }, open]) => valuation(v, open, date).total);
  const sum = (amounts: readonly number[]): number => amounts.reduce((all, one) => all + one, 0);
  const overdue = held.flatMap(([, open]) => open).filter(({ due }) => due < date);
  const received = own.flatMap(receivedOf).filter((one) => one.date <= date);
  const totals = (some: readonly Received[]): object => ({
    payments: some.length,
    installments: sum(some.map(({ installments }) => installments)),
    amount: sum(some.map(({ net }) => net)),
  });
  return {
    operations: held.length,
    open: {
      installments: sum(held.map(([, open]) => open.length)),
      faceValue: sum(held.flatMap(([, open]) => open.map(({ face }) => face))),
      presentValue: sum(values.filter((value) => !isBeyond(value))),
    },
    overdue: [overdue.length, sum(overdue.map(({ face }) => face))],
    flows: FLOWS.map((flow) => {
      const some = received.filter((one) => one.flow === flow);
      return { flow, onDay: totals(some.filter((one) => one.date === date)), toDate: totals(some) };
    }),
  };
};

const FORMAT: StatementFormat = {
  ...{ dateColumn: '1', amountColumn: '2', referenceColumn: '3', dateFormat: 'yyyy-mm-dd' },
  ...{ delimiter: ';', decimal: '.', encoding: 'utf8', header: false, skipLines: 0 },
};
const EVER = { from: calendarDate('2000-01-01'), to: calendarDate('2099-12-31') };
const TOLERANCES = { windowDays: 0, toleranceCents: 0, requireReference: false };

/** Before the first event, at ends of months, on a leap day, today, and long after. */
const datesFor = (today: string): readonly string[] => [
  ...['2000-01-01', '2024-02-29', '2026-02-28', '2026-05-31', '2026-06-30', '2026-12-31'],
  ...[dayAfter(today, -1), today, dayAfter(today, 1), '2028-02-29', '2099-12-31'],
];

/** What the portfolio and a comparison say of the funds of a life, beside sums of what was posted in it. */
export const checkSums = async (living: Living): Promise<readonly string[]> => {
  const { portfolio, reconciliation } = living.world.parts;
  const found: string[] = [];
  for (const fundId of living.application.funds) {
    for (const date of datesFor(living.world.now().today)) {
      const { operations, open, overdue, flows } = await portfolio.show({ fundId, date: calendarDate(date) });
      const shown = { operations, open, overdue: [overdue.installments, overdue.faceValue], flows };
      const unlike = differences(positionOf(living, fundId, date), shown);
      found.push(...unlike.map((text) => `portfolio on ${date}: ${text}`));
    }
    const posted = [...living.model.books.values()].filter(({ fund }) => fund === fundId).flatMap(receivedOf);
    const text = posted.map(({ date, amount, reference }) => {
      const cents = String(amount).padStart(3, '0');
      return `${date};${cents.slice(0, -2)}.${cents.slice(-2)};${reference}\n`;
    });
    const statement = { name: 'posted', bytes: Buffer.from(text.join('')) };
    if (posted.length === 0) continue;
    const request = { fundId, ...EVER, statement, format: FORMAT, tolerances: TOLERANCES };
    const { notified, results } = await reconciliation.compare(request);
    const all = { count: posted.length, amount: posted.reduce((sum, { amount }) => sum + amount, 0) };
    const unlike = differences({ notified: all, matched: all }, { notified, matched: results.matched });
    found.push(...unlike.map((one) => `comparison: ${one}`));
  }
  return found;
};
