import type {
  DayTotal,
  Finding,
  Comparison,
  Remark,
  Result,
  ShownPayment,
  Sum,
} from '../../application/reconciliation/comparison.ts';
import { asColumns, jsonAmount, money, printedRows, tableOf, titleOf } from './columns.ts';
import type { Column, Printing, Rows } from './columns.ts';
import { fundFields, fundTitle } from './fund-names.ts';
import type { OfFund } from './fund-names.ts';

/** Longer lists are for files. */
const MOST_LISTED = 50;

const nameOf = ({ code, installment }: ShownPayment): string =>
  installment === null ? code : `${code}/${installment}`;

const kindOf = ({ kind, reason }: ShownPayment): string =>
  reason === null || reason === kind ? kind : `${kind} (${reason})`;

const RESULT_COLUMNS: readonly Column<readonly [string, Sum]>[] = [
  { name: 'result', of: ([result]) => titleOf(result) },
  { name: 'count', of: ([, { count }]) => count },
  { name: 'amount', of: ([, { amount }]) => amount, amount: true },
];

const RULE_COLUMNS: readonly Column<readonly [string, number]>[] = [
  { name: 'matched_by', of: ([rule]) => titleOf(rule) },
  { name: 'matches', of: ([, count]) => count },
];

const TOTAL_COLUMNS = asColumns<DayTotal>([
  'date',
  'kind',
  { name: 'notified', of: ({ notified }) => notified.count },
  { name: 'amount', of: ({ notified }) => notified.amount, amount: true },
  { name: 'statement', of: ({ statement }) => statement.count },
  { name: 'amount', of: ({ statement }) => statement.amount, amount: true },
  {
    name: 'difference',
    of: ({ notified, statement }) => statement.amount - notified.amount,
    amount: true,
  },
]);

const FINDING_COLUMNS: readonly Column<Finding>[] = [
  { name: 'kind', of: ({ payment }) => payment && kindOf(payment) },
  { name: 'operation', of: ({ payment }) => payment && nameOf(payment), verbatim: true },
  { name: 'notified', of: ({ payment }) => payment?.date },
  { name: 'amount', of: ({ payment }) => payment?.amount, amount: true },
  { name: 'line', of: ({ line }) => line?.line },
  { name: 'statement', of: ({ line }) => line?.date },
  { name: 'amount', of: ({ line }) => line?.amount, amount: true },
  { name: 'reference', of: ({ line }) => line?.reference, verbatim: true },
];

const REMARK_COLUMNS: readonly Column<Remark>[] = [
  { name: 'remark', of: ({ remark }) => titleOf(remark) },
  { name: 'kind', of: ({ payment }) => kindOf(payment) },
  { name: 'operation', of: ({ payment }) => nameOf(payment), verbatim: true },
  { name: 'date', of: ({ payment }) => payment.date },
  { name: 'amount', of: ({ payment }) => payment.amount, amount: true },
  { name: 'owed', of: ({ owedValue }) => owedValue, amount: true },
  { name: 'value', of: ({ value }) => value, amount: true },
];

const UNNAMED: Column<Finding> = { name: '', of: () => undefined };
const DIFFERENCE: Column<Finding> = {
  name: 'difference',
  of: ({ payment, line }) => payment && line && line.amount - payment.amount,
  amount: true,
};
const repeats = (what: string): Column<Finding> => ({
  name: `repeats_${what}`,
  of: ({ duplicateOf }) => duplicateOf,
  align: 'right',
});

const LISTS: readonly (readonly [Result, title: string, Column<Finding>])[] = [
  ['amount_differs', 'Amounts that differ', DIFFERENCE],
  ['missing_in_statement', 'Notified, and missing in the statement', UNNAMED],
  ['missing_in_notifications', 'In the statement, and never notified', UNNAMED],
  ['duplicate_in_statement', 'Twice in the statement', repeats('line')],
  ['duplicate_in_notifications', 'Notified twice', repeats('event')],
];

const listOf = <Row>(title: string, columns: readonly Column<Row>[], rows: Iterable<Row>): string => {
  const first: Row[] = [];
  let further = 0;
  for (const row of rows) {
    if (first.length < MOST_LISTED) first.push(row);
    else further += 1;
  }
  if (first.length === 0) return '';
  const more = further > 0 ? `... and ${further} more; -o csv lists them all\n` : '';
  return `\n${title}\n${tableOf(columns, first)}${more}`;
};

function* head(
  { period, tolerances, notified, statement, linesOutside }: Comparison,
  printing: OfFund,
): Generator<string> {
  const { windowDays, toleranceCents } = tolerances;
  yield `${fundTitle(period.fundId, printing)}, ${period.from} to ${period.to}, window ${windowDays} days, tolerance ${money(toleranceCents)}\n`;
  yield `Notified ${notified.count} payments, ${money(notified.amount)}; statement ${statement.count} lines, ${money(statement.amount)}`;
  yield linesOutside > 0 ? `; ${linesOutside} lines outside the period\n\n` : '\n\n';
}

function* reconciliationTable(reconciliation: Comparison, printing: OfFund): Generator<string> {
  const { results, rules, totals } = reconciliation;
  yield* head(reconciliation, printing);
  yield tableOf(RESULT_COLUMNS, Object.entries(results));
  const used = Object.entries(rules).filter(([, count]) => count > 0);
  if (used.length > 0) yield `\n${tableOf(RULE_COLUMNS, used)}`;
  if (totals.length > 0) yield `\n${tableOf(TOTAL_COLUMNS, totals)}`;
  for (const [wanted, title, last] of LISTS) {
    if (results[wanted].count === 0) continue;
    const found = only(reconciliation.findings(), ({ result }) => result === wanted);
    yield listOf(title, [...FINDING_COLUMNS, last], found);
  }
  yield listOf('Remarks', REMARK_COLUMNS, reconciliation.remarks());
}

function* only<T>(items: Iterable<T>, wanted: (item: T) => boolean): Generator<T> {
  for (const item of items) if (wanted(item)) yield item;
}

interface ReconciliationPrinting extends Printing, OfFund {
  readonly withMatched: boolean;
}

interface CsvRow extends Partial<Omit<Finding, 'result'>> {
  readonly result: string;
  readonly value?: number;
}

const IN_PORTUGUESE: Readonly<Record<string, string>> = {
  matched: 'confere',
  amount_differs: 'valor difere',
  missing_in_statement: 'falta no extrato',
  missing_in_notifications: 'nunca notificado',
  duplicate_in_statement: 'repetido no extrato',
  duplicate_in_notifications: 'notificado mais de uma vez',
  reversal_after_payments: 'estorno depois de pagamentos',
  underpayment: 'pago a menos',
  excess: 'pago a mais',
  shortfall: 'insuficiente',
  repurchase_pending: 'recompra pendente',
} satisfies Record<Result | Remark['remark'], string>;

const CSV_COLUMNS = asColumns<CsvRow>([
  { name: 'result', brazilian: (row) => IN_PORTUGUESE[row.result] ?? row.result },
  'rule',
  'match',
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
  'duplicate_of',
  { name: 'value', amount: true },
]);

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
  amount: jsonAmount(payment.amount),
});

const shownFinding = ({ result, rule, match, payment, line, duplicateOf }: Finding): object => ({
  result,
  ...(rule !== undefined && { rule, match }),
  ...(payment && { notification: shownPayment(payment) }),
  ...(line && { statement: { ...line, amount: jsonAmount(line.amount) } }),
  ...(payment &&
    line &&
    result === 'amount_differs' && { difference: jsonAmount(line.amount - payment.amount) }),
  ...(duplicateOf !== undefined && { duplicate_of: duplicateOf }),
});

const shownRemark = ({ remark, value, owedValue, payment }: Remark): object => ({
  remark,
  value: jsonAmount(value),
  owed_value: jsonAmount(owedValue),
  notification: shownPayment(payment),
});

const shownSum = ({ count, amount: value }: Sum): object => ({ count, amount: jsonAmount(value) });

const shownTotal = ({ date, kind, notified, statement }: DayTotal): object => ({
  date,
  kind,
  notified: shownSum(notified),
  statement: shownSum(statement),
  difference: jsonAmount(statement.amount - notified.amount),
});

const ITEMS_AT_ONCE = 1_000;

function* jsonItems<T>(items: Iterable<T>, shown: (item: T) => object): Generator<string> {
  let [text, count] = ['', 0];
  for (const item of items) {
    text += `${count === 0 ? '' : ','}${JSON.stringify(shown(item))}`;
    count += 1;
    if (count % ITEMS_AT_ONCE !== 0) continue;
    yield text;
    text = '';
  }
  yield text;
}

function* jsonOf(
  reconciliation: Comparison,
  findings: Iterable<Finding>,
  printing: OfFund,
): Generator<string> {
  const { period, tolerances, results, rules, notified, statement, linesOutside, clean, totals } =
    reconciliation;
  const head = JSON.stringify({
    ...fundFields(period.fundId, printing),
    from: period.from,
    to: period.to,
    window_days: tolerances.windowDays,
    tolerance: jsonAmount(tolerances.toleranceCents),
    clean,
    notified: shownSum(notified),
    statement: shownSum(statement),
    statement_lines_outside: linesOutside,
    results: Object.fromEntries(Object.entries(results).map(([result, sum]) => [result, shownSum(sum)])),
    rules,
    totals: totals.map(shownTotal),
  });
  yield `${head.slice(0, -1)},"findings":[`;
  yield* jsonItems(findings, shownFinding);
  yield '],"remarks":[';
  yield* jsonItems(reconciliation.remarks(), shownRemark);
  yield ']}\n';
}

/** A reconciliation as text, in pieces: with a million findings it is never there as a whole. */
export const printReconciliation = (
  reconciliation: Comparison,
  { withMatched, ...printing }: ReconciliationPrinting,
): Rows<string> => {
  const findings = (): Iterable<Finding> =>
    withMatched
      ? reconciliation.findings()
      : only(reconciliation.findings(), ({ result }) => result !== 'matched');
  switch (printing.format) {
    case 'table':
      return reconciliationTable(reconciliation, printing);
    case 'csv':
      return printedRows(CSV_COLUMNS, csvRows(findings(), reconciliation.remarks()), printing);
    case 'json':
      return jsonOf(reconciliation, findings(), printing);
  }
};
