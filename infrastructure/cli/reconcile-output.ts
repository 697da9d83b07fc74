import { amount } from '../../application/publishing/amount.ts';
import type {
  DayTotal,
  Finding,
  Reconciliation,
  Remark,
  ShownPayment,
  Sum,
} from '../../application/reconciliation/reconciliation.ts';
import type { Cents } from '../../domain/shared/money.ts';
import { reconciliationTable } from './reconcile-table.ts';
import { printedRows } from './columns.ts';
import type { Column, Printing, Rows } from './columns.ts';
import { jsonItems } from './report-output.ts';

export interface ReconciliationPrinting extends Printing {
  readonly withMatched: boolean;
}

const json = (cents: number) => amount(cents as Cents);

/** A finding or a remark, as a line of CSV. */
interface CsvRow extends Partial<Omit<Finding, 'result'>> {
  readonly result: string;
  readonly value?: number;
}

const CSV_COLUMNS: readonly Column<CsvRow>[] = [
  { name: 'result', of: (row) => row.result },
  { name: 'rule', of: (row) => row.rule },
  { name: 'match', of: (row) => row.match },
  { name: 'kind', of: ({ payment }) => payment?.kind },
  { name: 'reason', of: ({ payment }) => payment?.reason },
  { name: 'operation', of: ({ payment }) => payment?.code },
  { name: 'installment', of: ({ payment }) => payment?.installment },
  { name: 'event_id', of: ({ payment }) => payment?.eventId },
  { name: 'notified_date', of: ({ payment }) => payment?.date },
  { name: 'notified_amount', of: ({ payment }) => payment?.amount, amount: true },
  { name: 'line', of: ({ line }) => line?.line },
  { name: 'statement_date', of: ({ line }) => line?.date },
  { name: 'statement_amount', of: ({ line }) => line?.amount, amount: true },
  { name: 'reference', of: ({ line }) => line?.reference },
  { name: 'duplicate_of', of: (row) => row.duplicateOf },
  { name: 'value', of: (row) => row.value, amount: true },
];

function* csvRows(findings: Iterable<Finding>, remarks: Iterable<Remark>): Generator<CsvRow> {
  yield* findings;
  for (const { remark: result, value, payment } of remarks) yield { result, value, payment };
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
  { withMatched, ...printing }: ReconciliationPrinting,
): Rows<string> => {
  const findings = () => (withMatched ? reconciliation.findings() : without(reconciliation.findings()));
  switch (printing.format) {
    case 'table':
      return reconciliationTable(reconciliation);
    case 'csv':
      return printedRows(CSV_COLUMNS, csvRows(findings(), reconciliation.remarks()), printing);
    case 'json':
      return jsonOf(reconciliation, findings());
  }
};
