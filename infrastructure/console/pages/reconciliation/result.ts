import { RESULTS } from '../../../../application/reconciliation/comparison.ts';
import type { Finding, Comparison, Result, Sum } from '../../../../application/reconciliation/comparison.ts';
import { csvChoice } from '../../files.ts';
import { amount, count, date } from '../../format.ts';
import { html, tile, rowsView, tableView } from '../../html.ts';
import type { View, Column } from '../../html.ts';
import { tokenField } from '../../forms.ts';
import { operationPath, withQuery } from '../../paths.ts';
import type { Visit } from '../../page.ts';
import { words } from '../words.ts';
import { texts } from './texts.ts';

const AT_ONCE = 50;

/** A part of one list, found anew while it is read: a million findings are never there as a whole. */
export const someOf = (result: Comparison, wanted: Result, from: number): readonly Finding[] =>
  Iterator.from(result.findings())
    .filter((finding) => finding.result === wanted)
    .drop(from)
    .take(AT_ONCE + 1)
    .toArray();

type Applications = ReadonlyMap<string, string>;

/** All of a code that several applications have are a list. */
const nameOf = (
  payment: NonNullable<Finding['payment']>,
  fundId: string,
  applications: Applications,
): View => {
  const { code, installment } = payment;
  const application = applications.get(code);
  const path =
    application === undefined
      ? withQuery('/operations', { code, fund: fundId })
      : operationPath(application, code);
  return html`<a href=${path}>${code}</a>${installment !== null && `/${installment}`}`;
};

const columnsOf = (fundId: string, applications: Applications): readonly Column<Finding>[] => [
  [texts.payment, ({ payment }) => payment && texts.payments[payment.kind]],
  [words.operation, ({ payment }) => payment && nameOf(payment, fundId, applications), 'code'],
  [texts.notifiedOn, ({ payment }) => payment && date(payment.date), 'number'],
  [texts.value, ({ payment }) => payment && amount(payment.amount), 'number'],
  [texts.line, ({ line }) => line && count(line.line), 'number'],
  [texts.statementOn, ({ line }) => line && date(line.date), 'number'],
  [texts.value, ({ line }) => line && amount(line.amount), 'number'],
  [texts.ref, ({ line }) => line?.reference, 'wide'],
  [
    words.difference,
    ({ payment, line }) => payment && line && amount(line.amount - payment.amount),
    'number',
  ],
  [texts.rule, ({ rule }) => rule, 'code'],
];

export const codesOf = (found: readonly Finding[]): readonly string[] => [
  ...new Set(found.slice(0, AT_ONCE).flatMap(({ payment }) => payment?.code ?? [])),
];

export const codesFirst = (result: Comparison): readonly string[] => [
  ...new Set(RESULTS.flatMap((wanted) => codesOf(someOf(result, wanted, 0)))),
];

interface Part {
  readonly fundId: string;
  readonly applications: Applications;
  /** From there on, one more than are shown where there are more. */
  readonly found: readonly Finding[];
  readonly wanted: Result;
  readonly from: number;
}

const moreRow = (id: string, { found, wanted, from }: Pick<Part, 'found' | 'wanted' | 'from'>): View => {
  const values = JSON.stringify({ statement: id, result: wanted, from: String(from + AT_ONCE) });
  return (
    found.length > AT_ONCE &&
    html`<tr>
      <td colspan="10">
        <button
          class="secondary small"
          ...${{
            'hx-post': '/reconciliation/found',
            'hx-vals': values,
            'hx-target': 'closest tr',
            'hx-swap': 'outerHTML',
          }}
        >
          ${texts.more}
        </button>
      </td>
    </tr>`
  );
};

export const moreRows = (id: string, part: Part): View => [
  rowsView(columnsOf(part.fundId, part.applications), part.found.slice(0, AT_ONCE)),
  moreRow(id, part),
];

const list = (
  id: string,
  { result, applications }: { readonly result: Comparison; readonly applications: Applications },
  wanted: Result,
): View => {
  const { count: all } = result.results[wanted];
  if (all === 0) return null;
  const title = `found-${wanted}`;
  const part = { found: someOf(result, wanted, 0), wanted, from: 0 };
  return html`<details open=${wanted !== 'matched'}>
    <summary id=${title}>${texts.kinds[wanted]} (${count(all)})</summary>
    ${tableView(
      { titledBy: title, dense: true, below: moreRow(id, part) },
      columnsOf(result.period.fundId, applications),
      part.found.slice(0, AT_ONCE),
    )}
  </details>`;
};

const sums = ({ results }: Comparison): View =>
  tableView(
    { titledBy: 'results-title', dense: true },
    [
      [words.result, (one) => texts.kinds[one]],
      [words.count, (one) => count(results[one].count), 'number'],
      [texts.value, (one) => amount(results[one].amount), 'number'],
    ],
    RESULTS,
  );

const sumText = (sum: Sum): string => `${count(sum.count)} · ${amount(sum.amount)}`;

const days = ({ totals }: Comparison): View => {
  if (totals.length === 0) return null;
  return html`<details>
    <summary id="totals-title">${texts.totals}</summary>
    ${tableView(
      { titledBy: 'totals-title', dense: true },
      [
        [texts.day, ({ date: day }) => date(day)],
        [words.kind, ({ kind }) => texts.payments[kind]],
        [words.notified, ({ notified }) => sumText(notified), 'number'],
        [texts.statement, ({ statement }) => sumText(statement), 'number'],
        [words.difference, ({ notified, statement }) => amount(statement.amount - notified.amount), 'number'],
      ],
      totals,
    )}
  </details>`;
};

export const resultView = (
  visit: Visit,
  id: string,
  found: { readonly result: Comparison; readonly applications: Applications },
): View => {
  const { result } = found;
  const { notified, statement: lines, linesOutside, clean } = result;
  return html`<section aria-labelledby="results-title" class="found">
    <h2 id="results-title">${words.result}</h2>
    <p class=${clean ? 'done' : 'problem'} role="status">${clean ? texts.clean : texts.notClean}</p>
    <div class="tiles small">
      ${tile(words.notified, sumText(notified))} ${tile(texts.statement, sumText(lines))}
      ${tile(texts.outside, count(linesOutside))}
    </div>
    ${sums(result)}
    <form method="post" action="/reconciliation/export" class="actions">
      ${tokenField(visit)}
      <input type="hidden" name="statement" value=${id} />
      <button name="format" value="csv" class="secondary">${texts.exportCsv}</button>
      <button name="format" value="json" class="secondary">${texts.exportJson}</button>
    </form>
    <p>${csvChoice(visit)}</p>
    ${RESULTS.toReversed()
      .toSorted((one, other) => Number(one === 'matched') - Number(other === 'matched'))
      .map((wanted) => list(id, found, wanted))}
    ${days(result)}
  </section>`;
};
