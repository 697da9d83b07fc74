import { addDays } from '../../domain/shared/calendar-date.ts';
import { DayNumbers, NONE, Names } from './columns.ts';
import { Compared, findingsOf, remarksOf } from './findings.ts';
import { matchAll } from './match-rules.ts';
import { Lines } from './statement-lines.ts';
import { Matching } from './matching.ts';
import { Payments } from './payments.ts';
import type { Comparison } from './comparison.ts';
import type { Tolerances } from './match-rules.ts';
import type { NotifiedPayment, PaymentPeriod } from './reconciliation-reader.ts';
import { References, wordsOf } from './references.ts';
import type { StatementLine } from './statement-lines.ts';
import { countFindings, dayTotals, sumOf } from './totals.ts';

export interface ComparisonRequest extends PaymentPeriod {
  readonly tolerances: Tolerances;
  /** In the order of the file. @throws StatementError */
  readonly statement: AsyncIterable<readonly StatementLine[]>;
}

const LOOKED_UP_AT_ONCE = 500;

/** The code of an operation that such a text may begin with. */
const codesIn = (reference: string): readonly string[] =>
  wordsOf(reference).flatMap((word) => {
    const end = word.indexOf('/');
    return end < 0 ? [word] : [word, word.slice(0, end)];
  });

/** The payments that were notified for a fund, and the codes of its operations. */
export interface Notified {
  within(period: PaymentPeriod): AsyncIterable<readonly NotifiedPayment[]>;
  operationsAmong(fundId: string, codes: readonly string[]): Promise<readonly string[]>;
}

/** Lines that name an operation without payments must not be taken for another one's, so such operations are looked up. */
const identify = async (
  notified: Notified,
  fundId: string,
  lines: Lines,
  payments: Payments,
): Promise<void> => {
  const unknown = nameOperations(lines, payments);
  if (unknown.length === 0) return;
  const codes = [...new Set(unknown.flatMap((line) => codesIn(lines.reference[line]!)))];
  for (let at = 0; at < codes.length; at += LOOKED_UP_AT_ONCE) {
    const some = codes.slice(at, at + LOOKED_UP_AT_ONCE);
    for (const code of await notified.operationsAmong(fundId, some)) payments.operationOf(code);
  }
  nameOperations(lines, payments);
};

/** Answers the lines with a reference that names nothing. */
const nameOperations = (lines: Lines, payments: Payments): readonly number[] => {
  const references = new References(payments);
  const unknown: number[] = [];
  for (let line = 0; line < lines.count; line += 1) {
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
};

const comparisonOf = (
  compared: Compared,
  parts: Pick<Comparison, 'period' | 'tolerances' | 'linesOutside'> & { readonly days: DayNumbers },
): Comparison => {
  const { days, ...known } = parts;
  const { results, rules } = countFindings(compared);
  const totals = dayTotals(compared, days);
  const differing = Object.entries(results).filter(
    ([result, { count }]) => result !== 'matched' && count > 0,
  );
  return {
    ...known,
    results,
    rules,
    totals,
    notified: sumOf(totals.map(({ notified }) => notified)),
    statement: sumOf(totals.map(({ statement }) => statement)),
    clean: differing.length === 0,
    findings: () => findingsOf(compared),
    remarks: () => remarksOf(compared),
  };
};

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
  await identify(notified, fundId, lines, payments);
  const matching = new Matching(payments, lines);
  const repetitions = matchAll(matching, tolerances);
  const compared = new Compared({ matching, days, from: days.of(from), to: days.of(to), ...repetitions });
  for (const line of matching.openLines()) if (!compared.concernsLine(line)) linesOutside += 1;
  return comparisonOf(compared, { period: { fundId, from, to }, tolerances, days, linesOutside });
};
