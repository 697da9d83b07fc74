import { LOAN_STATUSES } from '../../../../domain/loan/statuses.ts';
import { may } from '../../../../application/desk/rights.ts';
import { csvChoice } from '../../csv-choice.ts';
import { amount, count, statusName } from '../../format.ts';
import { fundOptions } from '../../funds.ts';
import { empty, html, tableView } from '../../html.ts';
import type { View } from '../../html.ts';
import { tokenField, choiceField, dayField } from '../../forms.ts';
import type { Option } from '../../forms.ts';
import type { Visit } from '../../page.ts';
import { placeText } from '../../paths.ts';
import { words } from '../words.ts';
import { columnsOf } from './columns.ts';
import type { Found } from './columns.ts';
import { sameSearch } from './searches.ts';
import type { Refusal, Search } from './searches.ts';
import { texts } from './texts.ts';

export const PAGE_SIZE = 50;
/** Where a page ends. */
export const PLACE = ['by', 'key', 'stream'] as const;

/** At the field that cannot be searched for, what is wrong with it. */
const saidAt = (which: Refusal, { refused }: Search) =>
  which === refused
    ? {
        attributes: { 'aria-invalid': 'true', 'aria-describedby': which },
        text: html`<small class="problem" role="alert" id=${which}>${texts[which]}</small>`,
      }
    : { attributes: {}, text: undefined };

const form = ({ search, funds, names }: Found, visit: Visit): View => {
  const { typed } = search;
  const [code, document] = [saidAt('badCode', search), saidAt('badDocument', search)];
  const [fund, days] = [saidAt('badFund', search), saidAt('badDates', search)];
  const all: Option = ['', words.all];
  const states = LOAN_STATUSES.map((one): Option => [one, statusName(one)]);
  return html`
    <form method="post" action="/operations/search" class="actions" autocomplete="off">
      ${tokenField(visit)}
      ${typed.sort !== undefined && html`<input type="hidden" name="sort" value=${typed.sort} />`}
      <label
        >${texts.code}
        <input
          name="code"
          value=${typed.code ?? ''}
          maxlength="100"
          spellcheck="false"
          ...${code.attributes}
        />
        ${code.text}</label
      >
      ${
        may(visit, 'borrowers') &&
        html`<label>
          ${texts.document}
          <input
            name="document"
            value=${typed.document ?? ''}
            maxlength="24"
            spellcheck="false"
            ...${document.attributes}
          />
          ${document.text}
        </label>`
      }
      ${choiceField(words.fund, 'fund', { options: [all, ...fundOptions(funds, names)], chosen: typed.fund?.toLowerCase() }, fund)}
      ${choiceField(words.status, 'status', { options: [all, ...states], chosen: typed.status }, saidAt('badChoice', search))}
      ${choiceField(texts.lateness, 'overdue', { options: [all, ['true', texts.onlyLate]], chosen: typed.overdue })}
      <label>${texts.from} ${dayField({ name: 'from', value: typed.from })}</label>
      <label>
        ${texts.to} ${dayField({ name: 'to', value: typed.to, ...days.attributes })} ${days.text}
      </label>
      <button>${texts.search}</button>
      <a href="/operations">${texts.clear}</a>
    </form>
  `;
};

/** How many there are, what they owe, and what else there is to know of the list. */
const summary = ({ found, search }: Found): View => {
  const { total, operations, next, sorting } = found;
  const { overdueValue } = total ?? {};
  const says = [
    total && texts.counted(count(total.operations), total.operations === 1, total.atLeast),
    overdueValue !== undefined && texts.overdueSum(amount(overdueValue)),
    search.typed.overdue &&
      sorting.by === 'received_at' &&
      !found.orders.includes('days_late') &&
      texts.tooManyLate,
    next && operations.length < PAGE_SIZE && texts.lookedThrough,
  ].filter(Boolean);
  return says.length > 0 && html`<p role="status">${says.join(' ')}</p>`;
};

const pages = ({ found, search, continued }: Found): View => {
  const { operations, next } = found;
  const to = next && sameSearch('/operations', search, { after: placeText(PLACE, next) });
  return html`<p class="actions">
    ${continued && html`<a href=${sameSearch('/operations', search)}>${texts.first}</a>`}
    ${to !== undefined && html`<a href=${to} rel="next">${words.more}</a>`}
    ${operations.length > 0 && html`<a href=${sameSearch('/operations/export', search)} download>${words.exportCsv}</a>`}
  </p>`;
};

export const operationsView = (all: Found, visit: Visit): View => {
  const { found, search } = all;
  if (search.refused) return form(all, visit);
  if (search.forgotten)
    return html`${form(all, visit)}
      <p class="problem" role="alert">${texts.forgotten}</p>`;
  const none =
    Object.keys(search.typed).length > 0 ? empty(texts.none) : empty(texts.nothingYet, texts.whatComes);
  return html`
    ${form(all, visit)} ${summary(all)}
    ${tableView({ label: texts.found, dense: true, empty: none }, columnsOf(all), found.operations)}
    ${pages(all)} ${found.operations.length > 0 && csvChoice(visit)}
  `;
};
