import { EXITS } from '../../domain/loan/exits.ts';
import { NONE } from './columns.ts';
import type { DayNumbers } from './columns.ts';
import type { Matching, Rule } from './matching.ts';
import type { Finding, Remark, Result, ShownPayment } from './comparison.ts';
import type { PaymentPeriod } from './reconciliation-reader.ts';

export class Compared {
  readonly matching: Matching;
  /** For each line that repeats another one: which. */
  readonly repeatedLines: ReadonlyMap<number, number>;
  readonly repeatedPayments: ReadonlyMap<number, number>;
  readonly #days: DayNumbers;
  readonly #from: number;
  readonly #to: number;
  readonly #concerned: Uint8Array;

  constructor(
    matching: Matching,
    repeated: Pick<Compared, 'repeatedLines' | 'repeatedPayments'>,
    days: DayNumbers,
    { from, to }: Pick<PaymentPeriod, 'from' | 'to'>,
  ) {
    this.matching = matching;
    this.repeatedLines = repeated.repeatedLines;
    this.repeatedPayments = repeated.repeatedPayments;
    this.#days = days;
    this.#from = days.of(from);
    this.#to = days.of(to);
    this.#concerned = new Uint8Array(matching.count);
    const concern = (match: number, day: number): void => {
      if (match !== NONE && this.isWithin(day)) this.#concerned[match] = 1;
    };
    const { payments, lines } = matching;
    for (let p = 0; p < payments.count; p += 1) concern(matching.matchOfPayment(p), payments.day.at(p));
    for (let l = 0; l < lines.count; l += 1) concern(matching.matchOfLine(l), lines.day.at(l));
  }

  isWithin(day: number): boolean {
    return day >= this.#from && day <= this.#to;
  }

  /** In the period itself, or joined with something in it. */
  concernsPayment(payment: number): boolean {
    const match = this.matching.matchOfPayment(payment);
    return match === NONE
      ? this.isWithin(this.matching.payments.day.at(payment))
      : this.#concerned[match] === 1;
  }

  concernsLine(line: number): boolean {
    const match = this.matching.matchOfLine(line);
    return match === NONE ? this.isWithin(this.matching.lines.day.at(line)) : this.#concerned[match] === 1;
  }

  payment(payment: number): ShownPayment {
    const { payments } = this.matching;
    return {
      eventId: payments.eventId[payment]!,
      kind: payments.kind(payment),
      reason: payments.remarks.get(payment)?.reason ?? null,
      code: payments.code(payment),
      installment: payments.installment.at(payment),
      date: this.#days.date(payments.day.at(payment)),
      amount: payments.amount.at(payment),
    };
  }

  line(line: number): NonNullable<Finding['line']> {
    const { lines } = this.matching;
    return {
      line: lines.line.at(line),
      date: this.#days.date(lines.day.at(line)),
      amount: lines.amount.at(line),
      reference: lines.reference[line]!,
    };
  }
}

/** The lines of each match. The first costs no more than a number; further ones are rare. */
const linesByMatch = ({ matching }: Compared): ((match: number) => readonly number[]) => {
  const first = new Int32Array(matching.count).fill(NONE);
  const further = new Map<number, number[]>();
  for (let l = 0; l < matching.lines.count; l += 1) {
    const match = matching.matchOfLine(l);
    if (match === NONE) continue;
    if (first[match] === NONE) first[match] = l;
    else if (!further.get(match)?.push(l)) further.set(match, [l]);
  }
  return (match) => [first[match]!, ...(further.get(match) ?? [])];
};

const resultOf = (rule: Rule): Result => (rule === 'amount_differs' ? 'amount_differs' : 'matched');

/** Payments of the matches in their order, the first of each match with its line; further lines of a match follow it. */
function* joined(compared: Compared, wanted: Result): Generator<Finding> {
  const { matching } = compared;
  const linesOf = linesByMatch(compared);
  const begun = new Set<number>();
  for (let p = 0; p < matching.payments.count; p += 1) {
    const match = matching.matchOfPayment(p);
    if (match === NONE || !compared.concernsPayment(p)) continue;
    const rule = matching.rule(match);
    if (resultOf(rule) !== wanted) continue;
    const found = { result: wanted, rule, match };
    if (begun.has(match)) {
      yield { ...found, payment: compared.payment(p) };
      continue;
    }
    if (rule === 'batch' || rule === 'day_total') begun.add(match);
    const [line, ...others] = linesOf(match);
    yield { ...found, payment: compared.payment(p), line: compared.line(line!) };
    for (const other of others) yield { ...found, line: compared.line(other) };
  }
}

function* paymentsAlone(compared: Compared): Generator<Finding> {
  const { matching, repeatedPayments } = compared;
  for (const payment of matching.openPayments())
    if (compared.concernsPayment(payment) && !repeatedPayments.has(payment))
      yield { result: 'missing_in_statement', payment: compared.payment(payment) };
}

function* linesAlone(compared: Compared): Generator<Finding> {
  for (const line of compared.matching.openLines())
    if (compared.concernsLine(line)) yield { result: 'missing_in_notifications', line: compared.line(line) };
}

function* repeatedLines(compared: Compared): Generator<Finding> {
  const { lines } = compared.matching;
  for (const [line, original] of [...compared.repeatedLines].toSorted(([a], [b]) => a - b))
    if (compared.concernsLine(line))
      yield {
        result: 'duplicate_in_statement',
        line: compared.line(line),
        duplicateOf: lines.line.at(original),
      };
}

function* repeatedPayments(compared: Compared): Generator<Finding> {
  const { payments } = compared.matching;
  for (const [payment, original] of compared.repeatedPayments)
    if (compared.concernsPayment(payment))
      yield {
        result: 'duplicate_in_notifications',
        payment: compared.payment(payment),
        duplicateOf: payments.eventId[original]!,
      };
}

export function* findingsOf(compared: Compared): Generator<Finding> {
  yield* joined(compared, 'matched');
  yield* joined(compared, 'amount_differs');
  yield* paymentsAlone(compared);
  yield* linesAlone(compared);
  yield* repeatedLines(compared);
  yield* repeatedPayments(compared);
}

export function* remarksOf(compared: Compared): Generator<Remark> {
  const { payments } = compared.matching;
  for (const [payment, known] of payments.remarks) {
    if (!compared.isWithin(payments.day.at(payment))) continue;
    const { reason, owedValue } = known;
    const pending = reason !== null && known.completedAt === null;
    const values = [
      [
        'reversal_after_payments',
        reason !== null && EXITS[reason].pricing === 'given_value' ? known.receivedBefore : 0,
      ],
      ['underpayment', known.underpaidValue],
      ['excess', known.excessValue],
      ['shortfall', known.shortfallValue],
      ['repurchase_pending', pending ? payments.amount.at(payment) : 0],
    ] as const;
    for (const [remark, value] of values)
      if (value > 0) yield { remark, value, owedValue, payment: compared.payment(payment) };
  }
}
