import { addDays, calendarDate } from '../../domain/shared/calendar-date.ts';
import { DayNumbers, ELSEWHERE, NONE, Names } from './columns.ts';
import { Compared } from './findings.ts';
import { matchAll } from './match-rules.ts';
import { Lines, Matching } from './matching.ts';
import { Payments } from './payments.ts';
import type { Comparison } from './comparison.ts';
import type { Tolerances } from './match-rules.ts';
import type { PaymentPeriod, SqlNotifiedPayments } from './reconciliation-reader.ts';
import { References, eventIdsIn, namesIn } from './references.ts';
import type { Schedules } from './references.ts';
import type { StatementLine } from './statements.ts';
import { comparisonOf } from './totals.ts';
import { inTurns } from '../support/turns.ts';
import type { Steps } from '../support/turns.ts';

export interface ComparisonRequest extends PaymentPeriod {
  readonly tolerances: Tolerances;
  /** In the order of the file. @throws StatementError */
  readonly statement: AsyncIterable<readonly StatementLine[]>;
}

const LOOKED_UP_AT_ONCE = 500;
const TEXTS_AT_ONCE = 500;

export type Notified = Pick<SqlNotifiedPayments, 'within' | 'operationsAmong' | 'installmentsOf'>;

const EVER = { from: calendarDate('1000-01-01'), to: calendarDate('9999-12-31') };

/** Lines that name an operation or a payment beyond the period must not be taken for another one's, so these are looked up. */
const identify = async (
  notified: Notified,
  reach: PaymentPeriod,
  lines: Lines,
  payments: Payments,
): Promise<void> => {
  const unknown = await inTurns(nameOperations(lines, payments));
  if (unknown.length === 0) return;
  const texts = new Set(unknown.map((line) => lines.reference[line]!));
  const schedules = await lookUp(notified, reach.fundId, texts, payments);
  const elsewhere = await inTurns(nameOperations(lines, payments, schedules));
  await namePaymentsElsewhere(notified, reach, elsewhere, { lines, payments });
};

/** A few texts at a time: each may begin with a dozen codes, and a statement holds millions of texts. */
const lookUp = async (
  notified: Notified,
  fundId: string,
  texts: ReadonlySet<string>,
  payments: Payments,
): Promise<Schedules> => {
  // Names are kept of the few operations that there are, not of whatever a text may begin with.
  const wanted = new Map<string, Set<string>>();
  for (const some of chunksOf([...texts], TEXTS_AT_ONCE)) {
    const names = some.flatMap(namesIn);
    const known = new Set<string>();
    for (const codes of chunksOf([...new Set(names.map(({ code }) => code))], LOOKED_UP_AT_ONCE))
      for (const code of await notified.operationsAmong(fundId, codes)) known.add(code);
    for (const code of known) payments.operationOf(code);
    for (const { code, installment } of names)
      if (installment !== undefined && known.has(code)) intoNames(wanted, code, installment);
  }
  const schedules = new Map<string, Set<string>>();
  for (const codes of chunksOf([...wanted.keys()], LOOKED_UP_AT_ONCE))
    for await (const page of notified.installmentsOf(fundId, codes))
      for (const { code, installment } of page)
        if (wanted.get(code)!.has(installment)) intoNames(schedules, code, installment);
  return schedules;
};

const intoNames = (names: Map<string, Set<string>>, code: string, name: string): void => {
  const own = names.get(code);
  if (own) own.add(name);
  else names.set(code, new Set([name]));
};

function* chunksOf(all: readonly string[], size: number): Generator<readonly string[]> {
  for (let at = 0; at < all.length; at += size) yield all.slice(at, at + size);
}

/** Lines with the id of an event of another time: all other payments are gone through, which only such lines cost. */
const namePaymentsElsewhere = async (
  notified: Notified,
  { fundId, from, to }: PaymentPeriod,
  unknown: readonly number[],
  { lines, payments }: { readonly lines: Lines; readonly payments: Payments },
): Promise<void> => {
  const linesOf = new Map<string, number[]>();
  for (const line of unknown)
    for (const id of eventIdsIn(lines.reference[line]!)) {
      const own = linesOf.get(id);
      if (own) own.push(line);
      else linesOf.set(id, [line]);
    }
  if (linesOf.size === 0) return;
  const others = [
    { fundId, from: EVER.from, to: addDays(from, -1) },
    { fundId, from: addDays(to, 1), to: EVER.to },
  ];
  for (const period of others)
    for await (const page of notified.within(period))
      for (const { event_id: id, code, installment_code: installment } of page)
        for (const line of linesOf.get(id.toLowerCase()) ?? []) {
          lines.operation.set(line, payments.operationOf(code));
          lines.installment.set(line, installment);
          lines.payment.set(line, ELSEWHERE);
        }
};

/** Answers the lines with a reference that names nothing. */
function* nameOperations(lines: Lines, payments: Payments, schedules?: Schedules): Steps<readonly number[]> {
  const references = new References(payments, schedules);
  const unknown: number[] = [];
  for (let line = 0; line < lines.count; line += 1) {
    yield;
    const text = lines.reference[line]!;
    if (text === '' || lines.operation.at(line) !== NONE) continue;
    const found = references.find(text);
    if (!found) {
      unknown.push(line);
      continue;
    }
    lines.operation.set(line, found.operation);
    lines.installment.set(line, found.installment);
    lines.payment.set(line, found.payment);
  }
  return unknown;
}

/**
 * Compares a custodian's statement with what was notified for a fund. Reads the whole statement before anything else. Both sides reach
 * beyond the period by the window, so that a payment of its last day meets the line of the day after. @throws StatementError
 */
export const compareStatement = async (
  notified: Notified,
  { fundId, from, to, tolerances, statement }: ComparisonRequest,
): Promise<Comparison> => {
  const { windowDays } = tolerances;
  const days = new DayNumbers();
  const [first, last] = [days.of(from) - windowDays, days.of(to) + windowDays];
  const names = new Names();
  const lines = new Lines(days, names);
  let linesOutside = 0;
  for await (const batch of statement)
    for (const line of batch) {
      const day = days.of(line.date);
      if (day < first || day > last) linesOutside += 1;
      else lines.add(line);
    }
  const payments = new Payments(days, names);
  const reach = { fundId, from: addDays(from, -windowDays), to: addDays(to, windowDays) };
  for await (const page of notified.within(reach)) for (const payment of page) payments.add(payment);
  await identify(notified, reach, lines, payments);
  const matching = new Matching(payments, lines);
  const compared = new Compared(matching, await inTurns(matchAll(matching, tolerances)), days, { from, to });
  for (const line of matching.openLines()) if (!compared.concernsLine(line)) linesOutside += 1;
  return comparisonOf(compared, days, { period: { fundId, from, to }, tolerances, linesOutside });
};
