import { typedDay } from './format.ts';
import { html } from './html.ts';
import type { View } from './html.ts';
import { inLanguages } from './language.ts';

/** Fields of the browser's own would follow its language, not that of the page. */
const hints = inLanguages({ day: ['dd/mm/aaaa', 'dd/mm/yyyy'] });

interface Attributes {
  readonly name: string;
  readonly value?: string | undefined;
  /** Of the label, too. */
  readonly title?: string;
  readonly [attribute: string]: unknown;
}

/** A field under its label. @param text what is said of it */
export const field = (label: View, { title, ...attributes }: Attributes, text?: View): View =>
  html`<label title=${title}>${label} <input ...${attributes} /> ${text}</label>`;

const TYPED = { autocomplete: 'off', spellcheck: 'false' };

/** Where a day is typed, @see dayTyped; `value` in ISO, or as it was typed. */
export const dayField = (label: View, { value = '', ...attributes }: Attributes, text?: View): View =>
  field(
    label,
    { value: typedDay(value), placeholder: hints.day, maxlength: '10', size: '11', ...TYPED, ...attributes },
    text,
  );

export const momentField = (label: View, attributes: Attributes): View =>
  field(label, { placeholder: `${hints.day} hh:mm`, maxlength: '20', ...TYPED, ...attributes });

export const AMOUNT = { inputmode: 'decimal', autocomplete: 'off' };

export type Option = readonly [value: string, shown: View];

/** One of these is chosen. @param more attributes of the field, and what is said of it */
export const choiceField = (
  label: string,
  name: string,
  { options, chosen }: { readonly options: readonly Option[]; readonly chosen: string | undefined },
  { attributes = {}, text }: { readonly attributes?: object; readonly text?: View } = {},
): View =>
  html`<label>
    ${label}
    <select name=${name} ...${attributes}>
      ${options.map(([value, shown]) => html`<option value=${value} selected=${value === chosen}>${shown}</option>`)}
    </select>
    ${text}
  </label>`;

export const tokenField = ({ formToken }: { readonly formToken: string }): View =>
  html`<input type="hidden" name="form_token" value=${formToken} />`;

export const buttonForm = (
  visit: { readonly formToken: string },
  action: string,
  label: string,
  fields: Iterable<readonly [name: string, value: string]> = [],
): View => html`
  <form method="post" action=${action} class="actions">
    ${tokenField(visit)}
    ${[...fields].map(([name, value]) => html`<input type="hidden" name=${name} value=${value} />`)}
    <button class="secondary">${label}</button>
  </form>
`;
