import { randomUUID } from 'node:crypto';
import type { DecisionAnswer } from '../../../../application/administrator/answers.ts';
import type { AwaitingDecision } from '../../../../application/administrator/confirmations.ts';
import type { Desk } from '../../../../application/desk-view/desk.ts';
import { may } from '../../../../application/desk/rights.ts';
import { SECOND_DECISIONS } from '../../../../application/publication/description/decision-schema.ts';
import type { SecondDecisionName } from '../../../../application/publication/description/decision-schema.ts';
import type { FundNames } from '../../../../domain/fund/names.ts';
import { cents } from '../../../../domain/shared/money.ts';
import { outcomeBadge, empty, html, tableView } from '../../html.ts';
import type { View } from '../../html.ts';
import { amount, count, date, instant } from '../../format.ts';
import { listing } from '../../desk-log.ts';
import { fundChoice, fundNames, fundView } from '../../funds.ts';
import { keptPage } from '../../kept.ts';
import { tokenField } from '../../forms.ts';
import { operationLink } from '../../paths.ts';
import { ConsoleProblem, action, view } from '../../page.ts';
import type { Answer, Page, Visit } from '../../page.ts';
import { decideAll, resultLine, told } from '../decisions/result.ts';
import { tallyView, tickColumn } from '../decisions/worklist.ts';
import { texts as decisions } from '../decisions/texts.ts';
import { words } from '../words.ts';
import type { FourEyes } from '../../../../domain/fund/four-eyes.ts';
import type { Evidence } from '../../../../domain/shared/two-people.ts';
import { inLanguages } from '../../language.ts';
import type { Both } from '../../language.ts';

export const texts = inLanguages({
  lead: [
    'Decisões que só valem depois que outra pessoa as confirmar.',
    'Decisions that count only once another person has confirmed them.',
  ],
  nothing: ['Nada espera por outra pessoa.', 'Nothing awaits another person.'],
  whatComes: [
    'Aparece aqui o que alguém decidiu e a regra do fundo manda outra pessoa confirmar.',
    'What somebody decided comes here, where the rule of its fund has another person confirm it.',
  ],
  link: ['Decisões à espera de outra pessoa', 'Decisions that await another person'],
  more: (count: string) => [
    `Mais ${count} não aparecem aqui: escolha um fundo.`,
    `${count} more are not shown: choose a fund.`,
  ],
  chooseAll: ['Escolher todas', 'Choose all'],
  chosen: (id: string) => [`Escolher ${id}`, `Choose ${id}`],
  contents: ['Conteúdo', 'Contents'],
  by: ['Quem decidiu', 'Decided by'],
  id: ['Identificador', 'Id'],
  rule: ['Regra do fundo', "The fund's rule"],
  evidences: {
    'signed-in': ['duas pessoas com sessão', 'two people who are signed in'],
    stated: ['dois nomes declarados', 'two names, as they are stated'],
  } satisfies Record<Evidence, Both>,
  seconds: {
    confirm: ['Confirmar', 'Confirm'],
    withdraw: ['Retirar', 'Withdraw'],
  } satisfies Record<SecondDecisionName, Both>,
  recordedAs: (name: string) => [
    `Fica registrado em nome de ${name}.`,
    `It is recorded in the name of ${name}.`,
  ],
  nothingChosen: ['Escolha ao menos uma decisão.', 'Choose at least one decision.'],
});

export const ruleText = ({ decisions: covered, evidence }: FourEyes): string => {
  if (covered.length === 0) return '–';
  const named = covered.map(({ decision, from }) => `${decisions.decide[decision]} ≥ ${amount(from)}`);
  return `${named.join(', ')} (${texts.evidences[evidence]})`;
};

const MOST = 500;

const contentsOf = ({ first, rule }: AwaitingDecision): string => {
  if (rule) return ruleText(rule);
  const reasons = (first?.reasons ?? []).map(({ code, message }) => `${code}: ${message}`);
  const day = first?.disbursementDate === undefined ? [] : [date(first.disbursementDate)];
  return [...day, ...reasons, ...(first?.note === undefined ? [] : [first.note])].join(' · ');
};

/** Default: in any fund. */
const maySettle = (visit: Visit, fundId?: string): boolean =>
  SECOND_DECISIONS.some((second) => may(visit, second, fundId));

const tableOf = (listed: readonly AwaitingDecision[], names: FundNames, visit: Visit): View => {
  const boxes = tickColumn<AwaitingDecision>(
    'first',
    texts.chooseAll,
    ({ firstDecisionId: id, value, fundId }) =>
      maySettle(visit, fundId) && { ...{ value: id, label: texts.chosen(id) }, counts: value ?? 0 },
  );
  return tableView<AwaitingDecision>(
    { label: words.decision },
    [
      ...(maySettle(visit) ? [boxes] : []),
      [
        words.decision,
        ({ decision }) => (decision === 'four_eyes' ? texts.rule : decisions.decide[decision]),
      ],
      [words.operation, operationLink],
      [words.value, ({ value }) => (value === null ? '' : amount(value)), 'number'],
      [texts.contents, (one) => contentsOf(one), 'wide'],
      [texts.by, ({ by }) => by ?? ''],
      [words.since, ({ since }) => instant(since), 'date'],
      [words.fund, ({ fundId }) => fundView(fundId, names), 'code'],
      [words.application, ({ applicationId }) => applicationId ?? '', 'code'],
    ],
    listed,
  );
};

const filterForm = (funds: readonly string[], names: FundNames, chosen: string | undefined): View =>
  html`<form method="get" action="/awaiting" class="actions">
    ${fundChoice({ funds, names }, chosen)}
    <button class="secondary">${words.filter}</button>
  </form>`;

const listed = async (visit: Visit, app: Desk): Promise<Answer> => {
  const fundId = visit.query.get('fund') || undefined;
  const [all, { rules }, names] = await Promise.all([
    app.administrator.confirmations.awaiting(fundId),
    app.administrator.rules.current(),
    fundNames(app, visit),
  ]);
  const shown = all.slice(0, MOST);
  return {
    kind: 'page',
    logged: listing(shown.length, fundId, {
      decision: 'awaiting',
      sum: cents(shown.reduce((sum, { value }) => sum + (value ?? 0), 0)),
    }),
    shows: shown.map(({ firstDecisionId }) => firstDecisionId),
    body: html`
      <p>${texts.lead}</p>
      ${rules.size > 1 && filterForm([...rules.keys()], names, fundId)}
      ${
        all.length === 0
          ? empty(texts.nothing, texts.whatComes)
          : html`<form method="post" action="/awaiting/settle">
              ${tokenField(visit)} ${tableOf(shown, names, visit)}
              ${all.length > MOST && html`<p>${texts.more(count(all.length - MOST))}</p>`}
              <div class="actions sticky">
                ${tallyView()}
                ${SECOND_DECISIONS.filter((second) => may(visit, second)).map(
                  (second) =>
                    html`<button
                      name="second"
                      value=${second}
                      class=${second === 'withdraw' ? 'danger' : undefined}
                      disabled=${visit.readOnly}
                    >
                      ${texts.seconds[second]}
                    </button>`,
                )}
                <small>${texts.recordedAs(visit.operator)}</small>
              </div>
            </form>`
      }
    `,
  };
};

const resultView = (answers: readonly DecisionAnswer[]): View => html`
  ${resultLine(answers)}
  ${tableView<DecisionAnswer>(
    { label: words.result },
    [
      [texts.id, ({ decision }) => decision?.firstDecisionId ?? '', 'code'],
      [words.operation, ({ decision }) => decision && operationLink(decision)],
      [words.outcome, ({ outcome }) => outcomeBadge(outcome, decisions.outcomes[outcome])],
      [words.status, (given) => told(given)],
    ],
    answers,
  )}
  <p><a href="/awaiting">${words.backToList}</a></p>
`;

/** Each of the chosen is asked for as from any other way in: who is signed in, or who runs the console, confirms or withdraws. */
const settle = async (visit: Visit, app: Desk) => {
  const decision = SECOND_DECISIONS.find((one) => one === visit.fields.get('second'));
  const firsts = [...new Set(visit.fields.getAll('first'))];
  if (decision === undefined || firsts.length === 0) throw new ConsoleProblem(422, () => texts.nothingChosen);
  const asked = firsts.map((first) =>
    JSON.stringify({ decision_id: randomUUID(), decision, first_decision_id: first }),
  );
  const answers = await decideAll(asked, visit, app);
  const kept = keptPage(visit, () => ({ kind: 'page', body: resultView(answers) }));
  // Its lines were written when it was settled.
  return { ...kept, logged: [] };
};

/** Where it is shown that anything may await another person: only funds with a rule make that. */
export const awaitingLink = async ({ administrator }: Desk): Promise<View> => {
  const { rules } = await administrator.rules.current();
  return rules.size > 0 && html`<p><a href="/awaiting">${texts.link}</a></p>`;
};

export const awaitingPage: Page = {
  path: '/awaiting',
  title: () => words.awaitingAnother,
  hidden: true,
  routes: [view('/awaiting', listed), action('/awaiting/settle', settle)],
};
