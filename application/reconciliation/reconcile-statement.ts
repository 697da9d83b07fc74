import { addDays } from '../../domain/shared/calendar-date.ts';
import type { NotifiedPayments, PaymentPeriod } from '../ports/notified-payments.ts';
import { repeatedLines, repeatedPayments } from './duplicates.ts';
import { findingsOf, remarksOf } from './findings.ts';
import type { Compared } from './findings.ts';
import { matchBatches, matchByAmountAndDate, matchDayTotals, matchParts } from './group-passes.ts';
import { Matching } from './matching.ts';
import type { Line } from './matching.ts';
import type { Reconciliation } from './reconciliation.ts';
import { matchByReference, matchWithinTolerance, pairDifferingAmounts } from './reference-passes.ts';
import type { Tolerances } from './reference-passes.ts';
import { References, wordsOf } from './references.ts';
import type { StatementLine } from './statement-line.ts';
import { countFindings, dayTotals, sumOf } from './totals.ts';

export interface ReconciliationRequest extends PaymentPeriod {
  readonly tolerances: Tolerances;
  /** In the order of the file. @throws StatementError */
  readonly statement: AsyncIterable<readonly StatementLine[]>;
  /** Called after each page of notified payments. */
  readonly onProgress?: () => void;
}

const LOOKED_UP_AT_ONCE = 500;

/** The code of an operation that such a text may begin with. */
const codesIn = (reference: string): readonly string[] =>
  wordsOf(reference).flatMap((word) => {
    const end = word.indexOf('/');
    return end < 0 ? [word] : [word, word.slice(0, end)];
  });

/** Compares a custodian's statement with what was notified for a fund. */
export class ReconcileStatement {
  readonly #notified: NotifiedPayments;

  constructor(notified: NotifiedPayments) {
    this.#notified = notified;
  }

  /**
   * Reads the whole statement before anything else. Both sides reach beyond the period by the window, so that a payment of its last
   * day meets the line of the day after. @throws StatementError
   */
  async execute(request: ReconciliationRequest): Promise<Reconciliation> {
    const { fundId, from, to, tolerances, statement, onProgress } = request;
    const { windowDays } = tolerances;
    const matching = new Matching({ from, to });
    let linesOutside = 0;
    for await (const batch of statement)
      for (const line of batch) if (!matching.addLine(line, windowDays)) linesOutside += 1;
    const reach = { fundId, from: addDays(from, -windowDays), to: addDays(to, windowDays) };
    for await (const page of this.#notified.within(reach)) {
      for (const payment of page) matching.addPayment(payment);
      onProgress?.();
    }
    await this.#identify(fundId, matching);
    const compared = matchAll(matching, tolerances);
    for (const line of matching.openLines()) if (!matching.concerns(line)) linesOutside += 1;
    return reconciliationOf(compared, { period: { fundId, from, to }, tolerances, linesOutside });
  }

  /** Lines that name an operation without payments must not be taken for another one's, so such operations are looked up. */
  async #identify(fundId: string, matching: Matching): Promise<void> {
    const unknown = nameOperations(matching);
    if (unknown.length === 0) return;
    const codes = [...new Set(unknown.flatMap(({ reference }) => codesIn(reference)))];
    for (let at = 0; at < codes.length; at += LOOKED_UP_AT_ONCE) {
      const some = codes.slice(at, at + LOOKED_UP_AT_ONCE);
      for (const code of await this.#notified.operationsAmong(fundId, some)) matching.operationOf(code);
    }
    nameOperations(matching);
  }
}

/** Answers the lines with a reference that names nothing. */
const nameOperations = (matching: Matching): readonly Line[] => {
  const references = new References(matching);
  return matching.lines.filter((line) => {
    if (line.reference === '' || line.operation) return false;
    const found = references.find(line.reference);
    if (found) Object.assign(line, found);
    return !found;
  });
};

const matchAll = (matching: Matching, tolerances: Tolerances): Compared => {
  matchByReference(matching, tolerances);
  matchBatches(matching, tolerances);
  matchParts(matching, tolerances);
  matchWithinTolerance(matching, tolerances);
  const lines = repeatedLines(matching, tolerances.windowDays);
  for (const line of lines.keys()) line.isRepetition = true;
  pairDifferingAmounts(matching, tolerances);
  if (!tolerances.requireReference) {
    matchDayTotals(matching);
    matchByAmountAndDate(matching, tolerances);
  }
  const payments = repeatedPayments(matching, tolerances.windowDays);
  return { matching, repeatedLines: lines, repeatedPayments: payments };
};

const reconciliationOf = (
  compared: Compared,
  known: Pick<Reconciliation, 'period' | 'tolerances' | 'linesOutside'>,
): Reconciliation => {
  const { results, rules } = countFindings(compared);
  const totals = dayTotals(compared.matching);
  return {
    ...known,
    results,
    rules,
    totals,
    notified: sumOf(totals.map(({ notified }) => notified)),
    statement: sumOf(totals.map(({ statement }) => statement)),
    clean: Object.entries(results).every(([result, { count }]) => result === 'matched' || count === 0),
    findings: () => findingsOf(compared),
    remarks: () => remarksOf(compared),
  };
};
