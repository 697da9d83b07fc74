import { randomUUID } from 'node:crypto';
import type { DecisionAnswer } from '../../../../application/administrator/decision-desk.ts';
import type { DecisionName } from '../../../../application/publishing/description/decision-schema.ts';
import type { PendingOperation } from '../../../../application/ports/loan-queries.ts';
import { amount, centsTyped } from '../../format.ts';
import { html } from '../../html.ts';
import type { View } from '../../html.ts';
import type { Language } from '../../language.ts';
import { statusName } from '../../names.ts';
import { tokenField } from '../../layout.ts';
import type { Visit } from '../../page.ts';
import { refusalTexts } from '../../refusals.ts';
import { WORDS } from '../words.ts';
import { keyOf, operationsNamed } from './offered.ts';
import { DECISIONS } from './texts.ts';
import { detailPath } from './worklist.ts';

const REASONS_ASKED = 3;

/** A decision that is being written, on one operation or on many. */
export interface Draft {
  readonly decision: DecisionName;
  readonly lines: readonly {
    readonly applicationId: string;
    readonly code: string;
    /** Undefined once it does not wait for this decision any more. */
    readonly waiting: PendingOperation | undefined;
    /** Made when the form was: sent twice, it is carried out once. */
    readonly decisionId: string;
    /** As typed. */
    readonly value: string;
  }[];
  readonly reasons: readonly { readonly code: string; readonly message: string }[];
  readonly date: string;
  readonly note: string;
}

/** As the form is at first: each operation disbursed today, at its acquisition value. */
export const newDraft = (
  decision: DecisionName,
  operations: readonly PendingOperation[],
  today: string,
): Draft => ({
  decision,
  lines: operations.map((waiting) => ({
    applicationId: waiting.applicationId,
    code: waiting.code,
    waiting,
    decisionId: randomUUID(),
    value: amount(waiting.acquisitionValue).replace(/^\D+/, ''),
  })),
  reasons: [],
  date: today,
  note: '',
});

/** As the form was sent: with every operation that it names, whatever its state is by now. */
export const draftSent = (
  decision: DecisionName,
  operations: readonly PendingOperation[],
  fields: URLSearchParams,
): Draft => {
  const waiting = new Map(operations.map((operation) => [keyOf(operation), operation]));
  const [ids, values] = [fields.getAll('decision_id'), fields.getAll('value')];
  const messages = fields.getAll('reason_message');
  return {
    decision,
    lines: operationsNamed(fields).map(({ applicationId, code }, at) => ({
      applicationId,
      code,
      waiting: waiting.get(keyOf({ applicationId, code })),
      decisionId: ids[at] ?? randomUUID(),
      value: values[at] ?? '',
    })),
    reasons: fields
      .getAll('reason_code')
      .map((code, at) => ({ code: code.trim(), message: (messages[at] ?? '').trim() }))
      .filter(({ code, message }) => code !== '' || message !== ''),
    date: fields.get('date') ?? '',
    note: (fields.get('note') ?? '').trim(),
  };
};

/** What has to be mended before it can be submitted; the desk checks everything else. */
export const problemOf = ({ decision, lines, reasons }: Draft, language: Language): string | undefined => {
  const texts = DECISIONS[language];
  if (decision === 'reject' && reasons.length === 0) return texts.noReason;
  if (decision !== 'disburse') return undefined;
  const wrong = lines.find(({ value }) => centsTyped(value) === undefined);
  return wrong && texts.wrongAmount(wrong.code);
};

/** A decision for each operation, as the administrator's interface takes it. */
export const decisionsOf = ({ decision, lines, reasons, date, note }: Draft): readonly string[] =>
  lines.map(({ applicationId, code, decisionId, value }) =>
    JSON.stringify({
      decision_id: decisionId,
      application_id: applicationId,
      originator_proposal_code: code,
      decision,
      ...(decision === 'reject' && { reasons }),
      ...(decision === 'disburse' && {
        disbursement_date: date,
        disbursed_value: (centsTyped(value) ?? 0) / 100,
      }),
      ...(note !== '' && { note }),
    }),
  );

const reasonFields = ({ reasons }: Draft, language: Language): View => {
  const texts = DECISIONS[language];
  return html`
    <p id="reason-help">${texts.reasonHelp}</p>
    ${Array.from({ length: Math.max(REASONS_ASKED, reasons.length) }, (_, at) => {
      const given = reasons[at];
      return html`<fieldset class="grid" aria-describedby="reason-help">
        <legend>${texts.reason(at + 1)}</legend>
        <label>
          ${texts.reasonCode}
          <input name="reason_code" maxlength="100" value=${given?.code ?? ''} required=${at === 0} />
        </label>
        <label>
          ${texts.reasonMessage}
          <input name="reason_message" maxlength="500" value=${given?.message ?? ''} required=${at === 0} />
        </label>
      </fieldset>`;
    })}
  `;
};

const line = (given: Draft['lines'][number], decision: DecisionName, language: Language): View => {
  const { code, waiting, decisionId, value } = given;
  return html`
    <tr>
      <td>
        <input type="hidden" name="operation" value=${keyOf(given)} />
        <input type="hidden" name="decision_id" value=${decisionId} />
        <a class="code" href=${detailPath(given)}>${code}</a>
      </td>
      <td>${waiting && WORDS[language].awaited[waiting.status]}</td>
      <td class="number">${waiting && amount(waiting.acquisitionValue)}</td>
      ${
        decision === 'disburse' &&
        html`<td class="number">
          <input
            name="value"
            value=${value}
            inputmode="decimal"
            aria-label=${DECISIONS[language].valueOf(code)}
            required
          />
        </td>`
      }
      <td class="code">${waiting?.fundId}</td>
    </tr>
  `;
};

/** Everything that will be done, to be confirmed. @param others chosen ones that do not wait for this decision */
export const previewView = (draft: Draft, others: number, visit: Visit, problem?: string): View => {
  const { decision, lines, date, note } = draft;
  const { language } = visit;
  const [texts, words] = [DECISIONS[language], WORDS[language]];
  const total = lines.reduce((sum, { waiting }) => sum + (waiting?.acquisitionValue ?? 0), 0);
  return html`
    ${problem !== undefined && html`<p class="problem" role="alert">${problem}</p>`}
    <p>${texts.previewOf(texts.decide[decision], lines.length, amount(total))}</p>
    ${others > 0 && html`<p>${texts.others(others)}</p>`}
    <form method="post" action="/decisions/decide">
      ${tokenField(visit)}
      <input type="hidden" name="decision" value=${decision} />
      <div class="overflow-auto" tabindex="0" role="region" aria-label=${words.operation}>
        <table>
          <thead>
            <tr>
              <th scope="col">${words.operation}</th>
              <th scope="col">${words.waitsFor}</th>
              <th scope="col" class="number">${words.acquisitionValue}</th>
              ${decision === 'disburse' && html`<th scope="col" class="number">${texts.value}</th>`}
              <th scope="col">${words.fund}</th>
            </tr>
          </thead>
          <tbody>
            ${lines.map((one) => line(one, decision, language))}
          </tbody>
        </table>
      </div>
      ${decision === 'reject' && reasonFields(draft, language)}
      ${
        decision === 'disburse' &&
        html`<label>${texts.date} <input type="date" name="date" value=${date} required /></label>`
      }
      <label>${texts.note} <input name="note" maxlength="500" value=${note} /></label>
      <p>${texts.recordedAs(visit.operator)}</p>
      <div class="actions">
        <button disabled=${visit.readOnly || lines.length === 0}>${texts.confirm}</button>
        <a href="/decisions">${texts.back}</a>
      </div>
    </form>
  `;
};

const resultRow = (given: DecisionAnswer, { code }: Draft['lines'][number], language: Language): View => html`
  <tr>
    <td class="code">${code}</td>
    <td>${DECISIONS[language].outcomes[given.outcome]}</td>
    <td>
      ${given.outcome === 'refused' ? refusalTexts(given.reason)[language] : statusName(given.status, language)}
    </td>
  </tr>
`;

/** What became of each. */
export const resultView = (
  answers: readonly DecisionAnswer[],
  { lines }: Draft,
  language: Language,
): View => {
  const [texts, words] = [DECISIONS[language], WORDS[language]];
  const refused = answers.filter(({ outcome }) => outcome === 'refused').length;
  return html`
    <p class=${refused > 0 ? 'problem' : 'done'} role="status">
      ${texts.resultOf(answers.length - refused, refused)}
    </p>
    <div class="overflow-auto" tabindex="0" role="region" aria-label=${texts.results}>
      <table>
        <thead>
          <tr>
            <th scope="col">${words.operation}</th>
            <th scope="col">${texts.outcome}</th>
            <th scope="col">${words.status}</th>
          </tr>
        </thead>
        <tbody>
          ${answers.map((given, at) => resultRow(given, lines[at]!, language))}
        </tbody>
      </table>
    </div>
    <p><a href="/decisions">${texts.back}</a></p>
  `;
};
