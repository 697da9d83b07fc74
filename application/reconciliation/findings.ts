import type { Compared } from './compared.ts';
import type { Rule } from './matching.ts';
import { NONE } from './payments.ts';
import type { Finding, Result } from './reconciliation.ts';

/** The lines of each match. The first costs no more than a number; further ones are rare. */
const linesByMatch = ({ matching }: Compared): ((match: number) => readonly number[]) => {
  const first = new Int32Array(matching.count).fill(NONE);
  const further = new Map<number, number[]>();
  for (let l = 0; l < matching.lines.count; l += 1) {
    const match = matching.matchOfLine(l);
    if (match === NONE) continue;
    if (first[match] === NONE) first[match] = l;
    else further.set(match, [...(further.get(match) ?? []), l]);
  }
  return (match) => [first[match]!, ...(further.get(match) ?? [])];
};

export const resultOf = (rule: Rule): Result => (rule === 'amount_differs' ? 'amount_differs' : 'matched');

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

/** Everything that was compared, each payment and each line once. */
export function* findingsOf(compared: Compared): Generator<Finding> {
  yield* joined(compared, 'matched');
  yield* joined(compared, 'amount_differs');
  yield* paymentsAlone(compared);
  yield* linesAlone(compared);
  yield* repeatedLines(compared);
  yield* repeatedPayments(compared);
}
