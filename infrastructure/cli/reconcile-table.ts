import type {
  Finding,
  Reconciliation,
  Remark,
  Result,
  ShownLine,
  ShownPayment,
} from '../../application/reconciliation/reconciliation.ts';
import { money } from './columns.ts';
import { textTable } from './report-output.ts';

/** Longer lists are for files. */
const MOST_LISTED = 50;

const RIGHT = 'difference';

const nameOf = ({ code, installment }: ShownPayment): string =>
  installment === null ? code : `${code}/${installment}`;

const kindOf = ({ kind, reason }: ShownPayment): string =>
  reason === null || reason === kind ? kind : `${kind} (${reason})`;

const paymentCells = (payment: ShownPayment | undefined): readonly string[] =>
  payment ? [kindOf(payment), nameOf(payment), payment.date, money(payment.amount)] : ['', '', '', ''];

const lineCells = (line: ShownLine | undefined): readonly string[] =>
  line ? [String(line.line), line.date, money(line.amount), line.reference] : ['', '', '', ''];

const lastCell = ({ payment, line, duplicateOf }: Finding): string =>
  payment && line ? money(line.amount - payment.amount) : String(duplicateOf ?? '');

const findingRow = (finding: Finding): readonly string[] => [
  ...paymentCells(finding.payment),
  ...lineCells(finding.line),
  lastCell(finding),
];

const remarkRow = ({ remark, value, owedValue, payment }: Remark): readonly string[] => [
  remark.replaceAll('_', ' '),
  kindOf(payment),
  nameOf(payment),
  payment.date,
  money(payment.amount),
  money(owedValue),
  money(value),
];

/** The first of a list, and how many there are. */
const some = <T>(
  items: Iterable<T>,
  wanted: (item: T) => boolean,
): { readonly first: T[]; readonly count: number } => {
  const first: T[] = [];
  let count = 0;
  for (const item of items) {
    if (!wanted(item)) continue;
    count += 1;
    if (first.length < MOST_LISTED) first.push(item);
  }
  return { first, count };
};

const more = (count: number): string =>
  count > MOST_LISTED ? `... and ${count - MOST_LISTED} more; -o csv lists them all\n` : '';

function* head({ period, tolerances, notified, statement, linesOutside }: Reconciliation): Generator<string> {
  const { windowDays, toleranceCents } = tolerances;
  yield `Fund ${period.fundId}, ${period.from} to ${period.to}, window ${windowDays} days, tolerance ${money(toleranceCents)}\n`;
  yield `Notified ${notified.count} payments, ${money(notified.amount)}; statement ${statement.count} lines, ${money(statement.amount)}`;
  yield linesOutside > 0 ? `; ${linesOutside} lines outside the period\n\n` : '\n\n';
}

function* summary({ results, rules }: Reconciliation): Generator<string> {
  yield textTable(
    ['result', 'count', 'amount'],
    Object.entries(results).map(([result, { count, amount }]) => [
      result.replaceAll('_', ' '),
      String(count),
      money(amount),
    ]),
    [1, 2],
  );
  const used = Object.entries(rules).filter(([, count]) => count > 0);
  if (used.length === 0) return;
  yield '\n';
  yield textTable(
    ['matched by', 'matches'],
    used.map(([rule, count]) => [rule.replaceAll('_', ' '), String(count)]),
    [1],
  );
}

const totalsTable = ({ totals }: Reconciliation): string =>
  textTable(
    ['date', 'kind', 'notified', 'amount', 'statement', 'amount', RIGHT],
    totals.map(({ date, kind, notified, statement }) => [
      date,
      kind,
      String(notified.count),
      money(notified.amount),
      String(statement.count),
      money(statement.amount),
      money(statement.amount - notified.amount),
    ]),
    [2, 3, 4, 5, 6],
  );

const LISTS: readonly [Result, string, string][] = [
  ['amount_differs', 'Amounts that differ', RIGHT],
  ['missing_in_statement', 'Notified, and missing in the statement', ''],
  ['missing_in_notifications', 'In the statement, and never notified', ''],
  ['duplicate_in_statement', 'Twice in the statement', 'repeats line'],
  ['duplicate_in_notifications', 'Notified twice', 'repeats event'],
];

/** Summary, totals, and every list that is not empty. */
export function* reconciliationTable(reconciliation: Reconciliation): Generator<string> {
  yield* head(reconciliation);
  yield* summary(reconciliation);
  if (reconciliation.totals.length > 0) yield `\n${totalsTable(reconciliation)}`;
  for (const [wanted, title, last] of LISTS) {
    if (reconciliation.results[wanted].count === 0) continue;
    const { first, count } = some(reconciliation.findings(), ({ result }) => result === wanted);
    const titles = [
      'kind',
      'operation',
      'notified',
      'amount',
      'line',
      'statement',
      'amount',
      'reference',
      last,
    ];
    yield `\n${title}\n${textTable(titles, first.map(findingRow), [3, 4, 6, 8])}${more(count)}`;
  }
  const { first, count } = some(reconciliation.remarks(), () => true);
  if (count === 0) return;
  const titles = ['remark', 'kind', 'operation', 'date', 'amount', 'owed', 'value'];
  yield `\nRemarks\n${textTable(titles, first.map(remarkRow), [4, 5, 6])}${more(count)}`;
}
