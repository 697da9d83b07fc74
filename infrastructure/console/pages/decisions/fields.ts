import type { UsedReason } from '../../../../application/loans/decision-facts.ts';
import { html } from '../../html.ts';
import type { View } from '../../html.ts';
import { amount, count, typedRule } from '../../format.ts';
import { dayField, amountField } from '../../forms.ts';
import { reasonText, retyped, sumOf } from './draft.ts';
import type { Draft, DraftLine, Problem } from './draft.ts';
import { keyOf } from './offered.ts';
import { texts } from './texts.ts';

const REASONS_ASKED = 3;
const NO_SUM = '—';

const idOf = ({ field, of }: Pick<Problem, 'field' | 'of'>): string =>
  of === undefined ? field : `${field}-${of}`;

/** How a field says that it is wrong: a text beside it, which belongs to it also for who cannot see. */
interface Said {
  readonly attributes: Readonly<Record<string, string>>;
  readonly text: View;
}

/** @param help id of what describes the field anyway */
const saidOf = (problems: readonly Problem[], at: Pick<Problem, 'field' | 'of'>, help?: string): Said => {
  const found = problems.find(({ field, of }) => field === at.field && of === at.of);
  const id = idOf(at);
  const described = [help, found && `problem-${id}`].filter((one) => one !== undefined).join(' ');
  return {
    attributes: {
      id,
      ...(described !== '' && { 'aria-describedby': described }),
      ...(found && { 'aria-invalid': 'true' }),
    },
    text: found && html`<small class="problem" id=${`problem-${id}`}>${found.text()}</small>`,
  };
};

const nameOf = ({ field, of }: Problem, { lines }: Draft): string => {
  const code = lines.find((line) => keyOf(line) === of)?.code ?? '';
  if (field === 'date') return texts.date;
  if (field === 'value') return texts.disbursedOf(code);
  if (field === 'confirmed') return texts.valueAgain(code);
  return `${texts.reason(Number(of))}: ${field === 'reason_code' ? texts.reasonCode : texts.reasonMessage}`;
};

/** What is marked, with ways to it: a wide table may hold it where the window ends. */
export const problemList = (draft: Draft, problems: readonly Problem[]): View => html`
  <div class="problem" role="alert">
    <p>${texts.nothingDecided}</p>
    <ul>
      ${problems.map(
        (problem) => html`<li><a href=${`#${idOf(problem)}`}>${nameOf(problem, draft)}</a></li>`,
      )}
    </ul>
  </div>
`;

/** Those that the funds gave before, most of all the one that they gave most often. */
const usedReasons = (used: readonly UsedReason[], { chosenReasons }: Draft): View => {
  const chosen = new Set(chosenReasons.map(reasonText));
  return html`<fieldset>
    <legend>${texts.usedReasons}</legend>
    ${used.map(
      (one) =>
        html`<label>
          <input
            type="checkbox"
            name="used_reason"
            value=${reasonText(one)}
            checked=${chosen.has(reasonText(one))}
          />
          <span class="code">${one.code}</span>: ${one.message} <small>(${count(one.times)}×)</small>
        </label>`,
    )}
  </fieldset>`;
};

const reasonField = (
  { reasons }: Draft,
  at: number,
  { problems, required }: { readonly problems: readonly Problem[]; readonly required: boolean },
): View => {
  const given = reasons[at];
  const of = `${at + 1}`;
  const code = saidOf(problems, { field: 'reason_code', of }, `reason-rule-${of}`);
  const message = saidOf(problems, { field: 'reason_message', of });
  return html`<fieldset class="grid" aria-describedby="reason-help">
    <legend>${texts.reason(at + 1)}</legend>
    <div>
      <label>
        ${texts.reasonCode}
        <input
          name="reason_code"
          maxlength="100"
          value=${given?.code ?? ''}
          required=${required}
          ...${code.attributes}
        />
      </label>
      ${code.text}
      <small id=${`reason-rule-${of}`}>${texts.codeRule}</small>
    </div>
    <div>
      <label>
        ${texts.reasonMessage}
        <input
          name="reason_message"
          maxlength="500"
          value=${given?.message ?? ''}
          required=${required}
          ...${message.attributes}
        />
      </label>
      ${message.text}
    </div>
  </fieldset>`;
};

/** Reasons of before to choose from, and a new one to type; further ones are folded away. */
export const reasonFields = (
  draft: Draft,
  { problems, used }: { readonly problems: readonly Problem[]; readonly used: readonly UsedReason[] },
): View => {
  const asked = Math.max(REASONS_ASKED, draft.reasons.length);
  const field = (at: number): View =>
    reasonField(draft, at, { problems, required: at === 0 && used.length === 0 });
  return html`
    <p id="reason-help">${texts.reasonHelp}</p>
    ${used.length > 0 && usedReasons(used, draft)} ${field(0)}
    <details open=${draft.reasons.length > 1}>
      <summary>${texts.moreReasons}</summary>
      ${Array.from({ length: asked - 1 }, (_, at) => field(at + 1))}
    </details>
  `;
};

export const valueFields = (
  line: DraftLine,
  { draft, problems }: { readonly draft: Draft; readonly problems: readonly Problem[] },
): View => {
  const { code } = line;
  const [value, confirmed] = [retyped(line.value, draft), retyped(line.confirmed, draft)];
  const typed = saidOf(problems, { field: 'value', of: keyOf(line) });
  const again = saidOf(problems, { field: 'confirmed', of: keyOf(line) });
  const asked = again.text !== undefined || confirmed !== '';
  const label = { 'aria-label': texts.disbursedOf(code), 'data-summand': true };
  return html`${amountField({ name: 'value', value, required: true, ...label, ...typed.attributes })}
  ${typed.text}
  ${
    asked
      ? amountField({
          name: 'confirmed_value',
          value: confirmed,
          'aria-label': texts.valueAgain(code),
          placeholder: texts.again,
          ...again.attributes,
        })
      : html`<input type="hidden" name="confirmed_value" value="" />`
  }
  ${again.text}`;
};

export const disbursementFields = (draft: Draft, problems: readonly Problem[]): View => {
  const { attributes, text } = saidOf(problems, { field: 'date' });
  const sum = sumOf(draft);
  return html`
    <p>
      ${texts.sum} <output data-sum ...${typedRule()}>${sum === undefined ? NO_SUM : amount(sum)}</output>
    </p>
    <label>
      ${texts.date} ${dayField({ name: 'date', value: draft.date, required: true, ...attributes })} ${text}
    </label>
  `;
};
