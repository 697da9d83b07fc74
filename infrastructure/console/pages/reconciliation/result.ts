import { RESULTS } from '../../../../application/reconciliation/reconciliation.ts';
import type {
  Finding,
  Reconciliation,
  Result,
} from '../../../../application/reconciliation/reconciliation.ts';
import type { KeptStatement } from '../../kept-statements.ts';
import { amount, count, date } from '../../format.ts';
import { html } from '../../html.ts';
import type { View } from '../../html.ts';
import type { Language } from '../../language.ts';
import { tokenField } from '../../layout.ts';
import type { Visit } from '../../page.ts';
import { RECONCILIATION } from './texts.ts';

/** Rows of a list that come at once. */
const AT_ONCE = 50;

/** A part of one list, found anew while it is read: a million findings are never there as a whole. */
export const someOf = (result: Reconciliation, wanted: Result, from: number): readonly Finding[] => {
  const found: Finding[] = [];
  let place = 0;
  for (const finding of result.findings()) {
    if (finding.result !== wanted) continue;
    if (place >= from) found.push(finding);
    place += 1;
    if (found.length > AT_ONCE) break;
  }
  return found;
};

const row = ({ payment, line, rule }: Finding, language: Language): View => {
  const texts = RECONCILIATION[language];
  const name =
    payment && (payment.installment === null ? payment.code : `${payment.code}/${payment.installment}`);
  return html`<tr>
    <td>${payment && texts.payments[payment.kind]}</td>
    <td class="code">${name}</td>
    <td class="number">${payment && date(payment.date)}</td>
    <td class="number">${payment && amount(payment.amount)}</td>
    <td class="number">${line && count(line.line)}</td>
    <td class="number">${line && date(line.date)}</td>
    <td class="number">${line && amount(line.amount)}</td>
    <td class="wide">${line?.reference}</td>
    <td class="number">${payment && line && amount(line.amount - payment.amount)}</td>
    <td class="code">${rule}</td>
  </tr>`;
};

/** Rows of a list, the last of them fetching what follows. */
export const rowsView = (
  visit: Visit,
  { id }: KeptStatement,
  {
    found,
    wanted,
    from,
  }: { readonly found: readonly Finding[]; readonly wanted: Result; readonly from: number },
): View => {
  const { language } = visit;
  const texts = RECONCILIATION[language];
  const values = JSON.stringify({ statement: id, result: wanted, from: String(from + AT_ONCE) });
  return html`${found.slice(0, AT_ONCE).map((one) => row(one, language))}
  ${
    found.length > AT_ONCE &&
    html`<tr>
      <td colspan="10">
        <button
          class="outline secondary small"
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
  }`;
};

const list = (visit: Visit, statement: KeptStatement, result: Reconciliation, wanted: Result): View => {
  const texts = RECONCILIATION[visit.language];
  const { count: all } = result.results[wanted];
  if (all === 0) return null;
  const title = `found-${wanted}`;
  return html`<details open=${wanted !== 'matched'}>
    <summary id=${title}>${texts.kinds[wanted]} (${count(all)})</summary>
    <div class="overflow-auto" tabindex="0" role="region" aria-labelledby=${title}>
      <table class="dense">
        <thead>
          <tr>
            <th scope="col">${texts.payment}</th>
            <th scope="col">${texts.operation}</th>
            <th scope="col" class="number">${texts.notifiedOn}</th>
            <th scope="col" class="number">${texts.value}</th>
            <th scope="col" class="number">${texts.line}</th>
            <th scope="col" class="number">${texts.statementOn}</th>
            <th scope="col" class="number">${texts.value}</th>
            <th scope="col">${texts.ref}</th>
            <th scope="col" class="number">${texts.difference}</th>
            <th scope="col">${texts.rule}</th>
          </tr>
        </thead>
        <tbody>
          ${rowsView(visit, statement, { found: someOf(result, wanted, 0), wanted, from: 0 })}
        </tbody>
      </table>
    </div>
  </details>`;
};

const sums = ({ results }: Reconciliation, language: Language): View => {
  const texts = RECONCILIATION[language];
  return html`<div class="overflow-auto" tabindex="0" role="region" aria-labelledby="results-title">
    <table class="dense">
      <thead>
        <tr>
          <th scope="col">${texts.result}</th>
          <th scope="col" class="number">${texts.count}</th>
          <th scope="col" class="number">${texts.value}</th>
        </tr>
      </thead>
      <tbody>
        ${RESULTS.map(
          (one) =>
            html`<tr>
              <td>${texts.kinds[one]}</td>
              <td class="number">${count(results[one].count)}</td>
              <td class="number">${amount(results[one].amount)}</td>
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
};

const days = ({ totals }: Reconciliation, language: Language): View => {
  const texts = RECONCILIATION[language];
  if (totals.length === 0) return null;
  return html`<details>
    <summary id="totals-title">${texts.totals}</summary>
    <div class="overflow-auto" tabindex="0" role="region" aria-labelledby="totals-title">
      <table class="dense">
        <thead>
          <tr>
            <th scope="col">${texts.day}</th>
            <th scope="col">${texts.kind}</th>
            <th scope="col" class="number">${texts.notified}</th>
            <th scope="col" class="number">${texts.statement}</th>
            <th scope="col" class="number">${texts.difference}</th>
          </tr>
        </thead>
        <tbody>
          ${totals.map(
            ({ date: day, kind, notified, statement }) =>
              html`<tr>
                <td>${date(day)}</td>
                <td>${texts.payments[kind]}</td>
                <td class="number">${count(notified.count)} · ${amount(notified.amount)}</td>
                <td class="number">${count(statement.count)} · ${amount(statement.amount)}</td>
                <td class="number">${amount(statement.amount - notified.amount)}</td>
              </tr>`,
          )}
        </tbody>
      </table>
    </div>
  </details>`;
};

const tile = (name: string, value: string): View =>
  html`<article>
    <header>${name}</header>
    <p>${value}</p>
  </article>`;

export const resultView = (visit: Visit, statement: KeptStatement, result: Reconciliation): View => {
  const { language } = visit;
  const texts = RECONCILIATION[language];
  const { notified, statement: lines, linesOutside, clean } = result;
  return html`<section aria-labelledby="results-title" class="found">
    <h2 id="results-title">${texts.results}</h2>
    <p class=${clean ? 'done' : 'problem'} role="status">${clean ? texts.clean : texts.notClean}</p>
    <div class="tiles small">
      ${tile(texts.notified, `${count(notified.count)} · ${amount(notified.amount)}`)}
      ${tile(texts.statement, `${count(lines.count)} · ${amount(lines.amount)}`)}
      ${tile(texts.outside, count(linesOutside))}
    </div>
    ${sums(result, language)}
    <form method="post" action="/reconciliation/export" class="actions">
      ${tokenField(visit)}
      <input type="hidden" name="statement" value=${statement.id} />
      <button name="format" value="csv" class="secondary">${texts.exportCsv}</button>
      <button name="format" value="json" class="secondary">${texts.exportJson}</button>
    </form>
    ${RESULTS.toReversed()
      .toSorted((one, other) => Number(one === 'matched') - Number(other === 'matched'))
      .map((wanted) => list(visit, statement, result, wanted))}
    ${days(result, language)}
  </section>`;
};
