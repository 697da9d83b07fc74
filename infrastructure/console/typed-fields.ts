import { typedDay } from './format.ts';
import { html } from './html.ts';
import type { View } from './html.ts';
import { spoken } from './language.ts';
import type { InLanguages } from './language.ts';

/** Fields of the browser's own would follow its language, not that of the page. */
const HINTS: InLanguages<{ readonly day: string; readonly time: string }> = {
  'pt-BR': { day: 'dd/mm/aaaa', time: 'hh:mm' },
  en: { day: 'dd/mm/yyyy', time: 'hh:mm' },
};

interface Field {
  readonly name: string;
  readonly value?: string | undefined;
  readonly required?: boolean;
  readonly [attribute: string]: unknown;
}

/** Where a day is typed, @see dayTyped; `value` in ISO, or as it was typed. */
export const dayField = ({ value = '', ...attributes }: Field): View =>
  html`<input
    value=${typedDay(value)}
    placeholder=${HINTS[spoken()].day}
    maxlength="10"
    size="11"
    autocomplete="off"
    spellcheck="false"
    ...${attributes}
  />`;

/** Where a moment is typed, @see momentTyped. */
export const momentField = (attributes: Field): View => {
  const { day, time } = HINTS[spoken()];
  return html`<input
    placeholder=${`${day} ${time}`}
    maxlength="20"
    autocomplete="off"
    spellcheck="false"
    ...${attributes}
  />`;
};

/** Where an amount is typed, @see centsTyped. */
export const amountField = (attributes: Field): View =>
  html`<input inputmode="decimal" autocomplete="off" ...${attributes} />`;
