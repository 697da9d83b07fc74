import { randomUUID } from 'node:crypto';
import { actorNamed } from '../../../../application/command-handling/actors.ts';
import type { Desk } from '../../../../application/desk-view/desk.ts';
import { RoleError, may } from '../../../../application/desk/rights.ts';
import { EarlierReleaseError } from '../../../../application/event-codec/stored-formats.ts';
import { COVERABLE } from '../../../../domain/fund/four-eyes.ts';
import type { Covered, FourEyesState } from '../../../../domain/fund/four-eyes.ts';
import type { FundId } from '../../../../domain/shared/identifiers.ts';
import { cents } from '../../../../domain/shared/money.ts';
import type { Evidence } from '../../../../domain/shared/two-people.ts';
import { centsTyped, typedAmount } from '../../format.ts';
import { html } from '../../html.ts';
import type { View } from '../../html.ts';
import { keptPage } from '../../kept-pages.ts';
import { tokenField } from '../../layout.ts';
import { ConsoleProblem } from '../../page.ts';
import type { ActionAnswer, Visit } from '../../page.ts';
import { amountField, choiceField } from '../../typed-fields.ts';
import { ruleText, texts as awaiting } from '../awaiting/texts.ts';
import { ruleTexts, texts } from './texts.ts';

const EVIDENCES: readonly Evidence[] = ['signed-in', 'stated'];

const ruleForm = (fundId: string, rules: FourEyesState['rules'], visit: Visit): View => {
  const rule = rules.get(fundId as FundId);
  const from = (name: string): string | undefined => {
    const covered = rule?.decisions.find(({ decision }) => decision === name);
    return covered && typedAmount(covered.from);
  };
  return html`<details>
    <summary>${ruleTexts.change}</summary>
    <form method="post" action="/funds/rule">
      ${tokenField(visit)}
      <input type="hidden" name="fund" value=${fundId} />
      ${COVERABLE.map(
        (name) =>
          html`<label>
            ${ruleTexts.from(awaiting.decisions[name])} ${amountField({ name, value: from(name) })}
          </label>`,
      )}
      <small>${ruleTexts.fromHelp}</small>
      ${choiceField(ruleTexts.evidence, 'evidence', { options: EVIDENCES.map((one) => [one, awaiting.evidences[one]]), chosen: rule?.evidence ?? 'signed-in' })}
      <button disabled=${visit.readOnly}>${ruleTexts.send}</button>
    </form>
  </details>`;
};

/** What the fund asks two people for, and the form to change that. */
export const ruleView = (fundId: string, rules: FourEyesState['rules'], visit: Visit): View => {
  const rule = rules.get(fundId as FundId);
  const text = rule && rule.decisions.length > 0 ? ruleText(rule) : ruleTexts.none;
  return [text, may(visit, 'configure', fundId) && ruleForm(fundId, rules, visit)];
};

/** @throws ConsoleProblem for an amount that cannot be read */
const decisionsIn = ({ fields }: Visit): readonly Covered[] =>
  COVERABLE.flatMap((decision): readonly Covered[] => {
    const text = fields.get(decision)?.trim() ?? '';
    if (text === '') return [];
    const from = centsTyped(text);
    if (from === undefined) throw new ConsoleProblem(422, () => ruleTexts.wrongAmount);
    return [{ decision, from: cents(from) }];
  });

export const setRule = async (visit: Visit, app: Desk): Promise<ActionAnswer> => {
  if (!may(visit, 'configure')) throw new RoleError('configure');
  const { fields, operator, person } = visit;
  const fundId = await app.funds.find(fields.get('fund') ?? '');
  if (fundId === undefined) throw new ConsoleProblem(404, () => texts.unknown);
  const evidence = EVIDENCES.find((one) => one === fields.get('evidence')) ?? 'signed-in';
  const rule = { fundId, evidence, decisions: decisionsIn(visit) };
  const asked = { decisionId: randomUUID(), actor: actorNamed(operator) };
  const { outcome } = await app.administrator.rules
    .set(rule, asked, { name: operator, person })
    .catch((error: unknown) => {
      throw error instanceof EarlierReleaseError ? new ConsoleProblem(409, () => ruleTexts.notYet) : error;
    });
  visit.logger.info({ operator, fund_id: fundId, outcome }, 'a rule of two people, set at the console');
  const shown = keptPage(visit, () => ({
    kind: 'page',
    body: html`
      <p class="done" role="status">${ruleTexts.outcomes[outcome]}</p>
      ${outcome === 'awaiting_confirmation' && html`<p><a href="/awaiting">${ruleTexts.awaiting}</a></p>`}
      <p><a href="/funds">${ruleTexts.back}</a></p>
    `,
  }));
  const line = { fundId, decision: 'four_eyes', decisionId: asked.decisionId, outcome } as const;
  return { ...shown, logged: [{ ...line, action: 'configured' }] };
};
