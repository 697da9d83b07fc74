import { amount } from '../../application/publishing/amount.ts';
import type {
  DayTotal,
  Finding,
  Reconciliation,
  Remark,
  ShownLine,
  ShownPayment,
  Sum,
} from '../../application/reconciliation/reconciliation.ts';
import type { Cents } from '../../domain/shared/money.ts';
import { reconciliationTable } from './reconcile-table.ts';
import { csvOf, harmless, jsonItems, money } from './report-output.ts';
import type { CsvValue, ReportFormat } from './report-output.ts';

export interface ReconciliationPrinting {
  readonly format: ReportFormat;
  readonly withMatched: boolean;
}

const json = (cents: number) => amount(cents as Cents);

const CSV_HEADER = [
  ...['result', 'rule', 'match', 'kind', 'reason', 'operation', 'installment', 'event_id', 'notified_date'],
  ...['notified_amount', 'line', 'statement_date', 'statement_amount', 'reference', 'duplicate_of', 'value'],
];

const paymentCells = (payment: ShownPayment | undefined): readonly CsvValue[] =>
  payment
    ? [
        payment.kind,
        payment.reason,
        harmless(payment.code),
        payment.installment === null ? null : harmless(payment.installment),
        payment.eventId,
        payment.date,
        money(payment.amount),
      ]
    : new Array<CsvValue>(7).fill(null);

const lineCells = (line: ShownLine | undefined): readonly CsvValue[] =>
  line
    ? [line.line, line.date, money(line.amount), harmless(line.reference)]
    : new Array<CsvValue>(4).fill(null);

function* csvRows(findings: Iterable<Finding>, remarks: Iterable<Remark>): Generator<readonly CsvValue[]> {
  for (const { result, rule, match, payment, line, duplicateOf } of findings)
    yield [result, rule, match, ...paymentCells(payment), ...lineCells(line), duplicateOf, null];
  for (const { remark, value, payment } of remarks)
    yield [remark, null, null, ...paymentCells(payment), ...lineCells(undefined), null, money(value)];
}

const shownPayment = (payment: ShownPayment): object => ({
  event_id: payment.eventId,
  kind: payment.kind,
  ...(payment.reason !== null && { reason: payment.reason }),
  originator_proposal_code: payment.code,
  ...(payment.installment !== null && { installment_code: payment.installment }),
  date: payment.date,
  amount: json(payment.amount),
});

const shownFinding = ({ result, rule, match, payment, line, duplicateOf }: Finding): object => ({
  result,
  ...(rule !== undefined && { rule, match }),
  ...(payment && { notification: shownPayment(payment) }),
  ...(line && { statement: { ...line, amount: json(line.amount) } }),
  ...(payment && line && result === 'amount_differs' && { difference: json(line.amount - payment.amount) }),
  ...(duplicateOf !== undefined && { duplicate_of: duplicateOf }),
});

const shownRemark = ({ remark, value, owedValue, payment }: Remark): object => ({
  remark,
  value: json(value),
  owed_value: json(owedValue),
  notification: shownPayment(payment),
});

const shownSum = ({ count, amount: value }: Sum): object => ({ count, amount: json(value) });

const shownTotal = ({ date, kind, notified, statement }: DayTotal): object => ({
  date,
  kind,
  notified: shownSum(notified),
  statement: shownSum(statement),
  difference: json(statement.amount - notified.amount),
});

function* mapped<From, To>(items: Iterable<From>, to: (item: From) => To): Generator<To> {
  for (const item of items) yield to(item);
}

function* jsonOf(reconciliation: Reconciliation, findings: Iterable<Finding>): Generator<string> {
  const { period, tolerances, results, rules, notified, statement, linesOutside, clean, totals } =
    reconciliation;
  const head = JSON.stringify({
    fund_id: period.fundId,
    from: period.from,
    to: period.to,
    window_days: tolerances.windowDays,
    tolerance: json(tolerances.toleranceCents),
    clean,
    notified: shownSum(notified),
    statement: shownSum(statement),
    statement_lines_outside: linesOutside,
    results: Object.fromEntries(Object.entries(results).map(([result, sum]) => [result, shownSum(sum)])),
    rules,
    totals: totals.map(shownTotal),
  });
  yield `${head.slice(0, -1)},"findings":[`;
  yield* jsonItems(mapped(findings, shownFinding));
  yield '],"remarks":[';
  yield* jsonItems(mapped(reconciliation.remarks(), shownRemark));
  yield ']}\n';
}

function* without(matched: Iterable<Finding>): Generator<Finding> {
  for (const finding of matched) if (finding.result !== 'matched') yield finding;
}

/** A reconciliation as text, in pieces: with a million findings it is never there as a whole. */
export const printReconciliation = (
  reconciliation: Reconciliation,
  { format, withMatched }: ReconciliationPrinting,
): Iterable<string> => {
  const findings = () => (withMatched ? reconciliation.findings() : without(reconciliation.findings()));
  switch (format) {
    case 'table':
      return reconciliationTable(reconciliation);
    case 'csv':
      return csvOf(CSV_HEADER, csvRows(findings(), reconciliation.remarks()));
    case 'json':
      return jsonOf(reconciliation, findings());
  }
};
