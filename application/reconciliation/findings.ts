import type { Repetitions } from './duplicates.ts';
import type { Line, Match, Matching, Payment, Rule } from './matching.ts';
import type { Finding, Remark, Result, ShownLine, ShownPayment } from './reconciliation.ts';

/** A finished comparison. */
export interface Compared {
  readonly matching: Matching;
  readonly repeatedLines: Repetitions<Line>;
  readonly repeatedPayments: Repetitions<Payment>;
}

const shownPayment = (payment: Payment): ShownPayment => ({
  eventId: payment.eventId,
  kind: payment.kind,
  reason: payment.remarks?.reason ?? null,
  code: payment.operation.code,
  installment: payment.installment,
  date: payment.date,
  amount: payment.amount,
});

const shownLine = ({ line, date, amount, reference }: Line): ShownLine => ({ line, date, amount, reference });

const resultOf = (rule: Rule): Result => (rule === 'amount_differs' ? 'amount_differs' : 'matched');

/** Payments of the matches in their order, the first of each match with its line; further lines of a match follow it. */
function* joined({ matching }: Compared, wanted: Result): Generator<Finding> {
  const begun = new Set<Match>();
  for (const payment of matching.payments) {
    const { match } = payment;
    if (!match?.concerned || resultOf(match.rule) !== wanted) continue;
    const found = { result: wanted, rule: match.rule, match: match.number };
    const shown = { ...found, payment: shownPayment(payment) };
    if (begun.has(match)) {
      yield shown;
      continue;
    }
    if (match.rule === 'batch' || match.rule === 'day_total') begun.add(match);
    yield { ...shown, line: shownLine(match.line) };
    for (const line of match.furtherLines) yield { ...found, line: shownLine(line) };
  }
}

function* paymentsAlone({ matching, repeatedPayments }: Compared): Generator<Finding> {
  for (const payment of matching.openPayments())
    if (matching.concerns(payment) && !repeatedPayments.has(payment))
      yield { result: 'missing_in_statement', payment: shownPayment(payment) };
}

function* linesAlone({ matching }: Compared): Generator<Finding> {
  for (const line of matching.openLines())
    if (matching.concerns(line)) yield { result: 'missing_in_notifications', line: shownLine(line) };
}

function* repetitions({ matching, repeatedLines, repeatedPayments }: Compared): Generator<Finding> {
  for (const [line, original] of [...repeatedLines].toSorted(([a], [b]) => a.line - b.line))
    if (matching.concerns(line))
      yield { result: 'duplicate_in_statement', line: shownLine(line), duplicateOf: original.line };
  for (const [payment, original] of repeatedPayments)
    if (matching.concerns(payment))
      yield {
        result: 'duplicate_in_notifications',
        payment: shownPayment(payment),
        duplicateOf: original.eventId,
      };
}

/** Everything that was compared, each payment and each line once. */
export function* findingsOf(compared: Compared): Generator<Finding> {
  yield* joined(compared, 'matched');
  yield* joined(compared, 'amount_differs');
  yield* paymentsAlone(compared);
  yield* linesAlone(compared);
  yield* repetitions(compared);
}

/** What deserves a look at the payments of the period, whether they arrived or not. */
export function* remarksOf({ matching }: Compared): Generator<Remark> {
  for (const payment of matching.payments) {
    const known = payment.remarks;
    if (!known || !matching.isWithin(payment.day)) continue;
    const pending = known.reason !== null && known.completedAt === null;
    const values = [
      ['reversal_after_payments', known.reason === 'cession_reversal' ? known.receivedBefore : 0],
      ['underpayment', known.underpaidValue],
      ['excess', known.excessValue],
      ['shortfall', known.shortfallValue],
      ['repurchase_pending', pending ? payment.amount : 0],
    ] as const;
    for (const [remark, value] of values)
      if (value > 0) yield { remark, value, owedValue: known.owedValue, payment: shownPayment(payment) };
  }
}
