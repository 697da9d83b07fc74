import type { StatementFormat } from '../../application/reconciliation/statements.ts';
import { calendarDate } from '../../domain/shared/calendar-date.ts';
import { differences } from './compare.ts';
import type { Living } from './live.ts';
import type { Book, Part } from './model/book.ts';
import { dayAfter } from './model/curve.ts';
import { heldBook, monthDifferences, partDifferences } from './month.ts';

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

/** What a fund holds and has received on a day, by what was posted. */
const countedOn = (books: ReadonlyMap<string, Book>, fund: string, date: string) => {
  const own = [...books.values()].filter((book) => book.fund === fund);
  const open = own.map((book) => [book, heldOn(books, book, date)] as const);
  return {
    held: open.filter(([, { length }]) => length).map(([book, parts]) => heldBook(book, parts, date)),
    received: own.flatMap(receivedOf).filter((one) => FLOWS.includes(one.flow) && one.date <= date),
  };
};

/** Of integer cents, by what was posted and how the model values it. */
const positionOf = ({ held, received }: ReturnType<typeof countedOn>, date: string): object => {
  const lines = held.flatMap((one) => one.lines);
  const sum = (amounts: readonly number[]): number => amounts.reduce((all, one) => all + one, 0);
  const overdue = lines.map(({ part }) => part).filter(({ due }) => due < date);
  const totals = (some: readonly Received[]): object => ({
    payments: some.length,
    installments: sum(some.map(({ installments }) => installments)),
    amount: sum(some.map(({ net }) => net)),
  });
  return {
    operations: held.length,
    open: {
      installments: lines.length,
      faceValue: sum(lines.map(({ part }) => part.face)),
      presentValue: sum(lines.map(({ worth }) => worth)),
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

const LAST_DAYS = [30, 60, 90, 120, 150, 180, 360, 720, 1080];
const MOST_BUCKETS = 3;

/** Before the first event, at ends of months, on a leap day, today, and long after. */
const datesFor = (today: string): readonly string[] => [
  ...['2000-01-01', '2024-02-29', '2026-02-28', '2026-05-31', '2026-06-30', '2026-12-31'],
  ...[dayAfter(today, -1), today, dayAfter(today, 1), '2028-02-29', '2099-12-31'],
];

/** When what was due first of an operation has been late for the last day of a bucket, and for the first of the next. */
const aroundBuckets = ({ model }: Living): readonly string[] =>
  [...model.books.values()].flatMap(({ parts }, i) => {
    const last = LAST_DAYS[i % LAST_DAYS.length]!;
    return i < MOST_BUCKETS ? [dayAfter(parts[0]!.due, last), dayAfter(parts[0]!.due, last + 1)] : [];
  });

const shownPosition = async ({ world }: Living, fundId: string, date: string, knownAt?: string) => {
  const asked = { fundId, date: calendarDate(date), knownAt };
  const { operations, open, overdue, flows } = await world.parts.portfolio.show(asked);
  return { operations, open, overdue: [overdue.installments, overdue.faceValue], flows };
};

/** What the portfolio says was known when a part of the life had ended, of the day of that and of today. */
const knownDifferences = async (living: Living): Promise<readonly string[]> => {
  const found: string[] = [];
  for (const { at, books } of living.known)
    for (const date of [at.slice(0, 'yyyy-mm-dd'.length), living.world.now().today])
      for (const fundId of living.application.funds) {
        const shown = await shownPosition(living, fundId, date, at);
        const unlike = differences(positionOf(countedOn(books, fundId, date), date), shown);
        found.push(...unlike.map((text) => `portfolio on ${date} as known at ${at}: ${text}`));
      }
  return found;
};

/** What the portfolio and a comparison say of the funds of a life, beside sums of what was posted in it. */
export const checkSums = async (living: Living): Promise<readonly string[]> => {
  const { reconciliation } = living.world.parts;
  const found: string[] = [...(await knownDifferences(living))];
  const { funds } = living.application;
  const { today } = living.world.now();
  for (const date of [...datesFor(today), ...aroundBuckets(living)]) {
    const counted = new Map(funds.map((fundId) => [fundId, countedOn(living.model.books, fundId, date)]));
    for (const [fundId, own] of counted) {
      const unlike = differences(positionOf(own, date), await shownPosition(living, fundId, date));
      found.push(...unlike.map((text) => `portfolio on ${date}: ${text}`));
      if (date === today) found.push(...(await partDifferences(living, fundId, own, date)));
    }
    found.push(...(await monthDifferences(living, counted, date)));
  }
  for (const fundId of funds) {
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
