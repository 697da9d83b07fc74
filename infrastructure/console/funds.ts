import type { Desk } from '../../application/desk-view/desk.ts';
import type { FundNames } from '../../domain/fund/names.ts';
import { messageOf } from '../../application/support/failures.ts';
import { html } from './html.ts';
import type { View } from './html.ts';
import type { Visit } from './page.ts';
import { choiceField } from './forms.ts';
import type { Option } from './forms.ts';
import { words } from './pages/words.ts';

/** Names of funds; none where they cannot be read now, since the ids say the same. */
export const fundNames = async ({ funds }: Pick<Desk, 'funds'>, { logger }: Visit): Promise<FundNames> => {
  try {
    return await funds.names();
  } catch (error) {
    logger.warn(
      { error: messageOf(error) },
      'funds are shown by their ids, since their names cannot be read',
    );
    return new Map();
  }
};

export const fundView = (id: string, names: FundNames): View => {
  const name = names.get(id);
  return name === undefined ? id : html`${name} <small class="code">${id}</small>`;
};

export const fundsView = (ids: readonly string[], names: FundNames): View =>
  ids.map((id, place) => [place > 0 && ', ', fundView(id, names)]);

export const fundFact = (id: string, names: FundNames): View =>
  names.has(id) ? fundView(id, names) : html`<span class="code">${id}</span>`;

export const fundOptions = (funds: readonly string[], names: FundNames): readonly Option[] =>
  funds.map((id) => [id, names.has(id) ? `${names.get(id)!} · ${id}` : id]);

interface Known {
  readonly funds: readonly string[];
  readonly names: FundNames;
}

/** One of the funds, or all of them. @param said @see choiceField */
export const fundChoice = (
  { funds, names }: Known,
  chosen: string | undefined,
  said: Parameters<typeof choiceField>[3] = {},
): View =>
  choiceField(words.fund, 'fund', { options: [['', words.all], ...fundOptions(funds, names)], chosen }, said);

/** A fund that is typed, by its id or its name, with those that are known to choose from. */
export const fundField = (label: string, { funds, names }: Known, attributes: object = {}): View =>
  html`<label>
    ${label}
    <input name="fund" list="funds" ...${attributes} autocomplete="off" spellcheck="false" />
    <datalist id="funds">
      ${funds.map((id) => html`<option value=${names.get(id) ?? id} label=${names.has(id) ? id : undefined}></option>`)}
    </datalist>
  </label>`;
