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
import { listing } from '../../desk-log.ts';
import { html, empty, tableView } from '../../html.ts';
import type { View } from '../../html.ts';
import { keptPage } from '../../kept.ts';
import { AMOUNT, tokenField, field, choiceField } from '../../forms.ts';
import { ConsoleProblem, action, typedOr, view } from '../../page.ts';
import type { ActionAnswer, Visit, Page } from '../../page.ts';
import { ruleText, texts as awaiting } from '../awaiting/page.ts';
import { texts as decisions } from '../decisions/texts.ts';
import type { ListedFund } from '../../../../application/funds/funds.ts';
import { DomainError } from '../../../../domain/shared/domain-error.ts';
import { words } from '../words.ts';
import { refusalText } from '../../refusals.ts';
import { inLanguages } from '../../language.ts';

const texts = inLanguages({
  title: ['Fundos', 'Funds'],
  intro: [
    'Os fundos a que uma aplicação está vinculada e os que têm nome. O nome aparece em todas as páginas e listas, ao lado do identificador; integradores veem apenas o identificador.',
    'The funds that an application is linked to, and those that have a name. The name is shown on every page and in every list, beside the id; integrators see the id alone.',
  ],
  none: ['Não há fundos.', 'There is no fund.'],
  whatComes: [
    'Um fundo aparece aqui quando um cliente é criado para ele: receivables client create.',
    'A fund comes here once a client is created for it: receivables client create.',
  ],
  name: ['Nome', 'Name'],
  nameOf: (id: string) => [`Nome do fundo ${id}`, `Name of the fund ${id}`],
  give: ['Nomear', 'Name it'],
  rule: [
    'De 1 a 80 caracteres, sem caracteres de controle ou marcas de direção, sem espaço no início ou no fim, e que não pareça um identificador. Dois fundos não têm o mesmo nome, nem em maiúsculas e minúsculas diferentes.',
    '1 to 80 characters, without control characters or marks of direction, without a blank at either end, and nothing that looks like an id. No two funds have the same name, in upper or lower case.',
  ],
  invalid: ['Este nome não é aceito: veja a regra abaixo.', 'This name is not accepted: see the rule below.'],
  taken: [
    'Outro fundo já tem este nome. Escolha outro.',
    'Another fund has this name already. Choose another one.',
  ],
  earlier: [
    'Processos de uma versão anterior ainda podem estar em execução. Quando não houver mais nenhum, execute `receivables upgrade finish`.',
    'Processes of an earlier release may still run. When none does any more, run `receivables upgrade finish`.',
  ],
  unknown: ['Não há fundo com este identificador.', 'There is no fund with this id.'],
  lead: [
    'Quais decisões de cada fundo precisam de duas pessoas. Uma regra que pede menos que a atual espera, ela mesma, por outra pessoa.',
    'Which decisions of each fund need two people. A rule that asks for less than the one in force awaits another person itself.',
  ],
  ruleTitle: ['Regra', 'Rule'],
  onePerson: ['Uma pessoa decide tudo.', 'One person decides everything.'],
  change: ['Mudar a regra', 'Change the rule'],
  from: (decision: string) => [`${decision}: duas pessoas a partir de R$`, `${decision}: two people from R$`],
  fromHelp: [
    'Por operação, como 50.000,00; 0,00 para todas; vazio: uma pessoa basta.',
    'For each operation, such as 50,000.00; 0.00 for all; empty: one person is enough.',
  ],
  evidence: ['O que prova que são duas', 'What proves that they are two'],
  send: ['Gravar a regra', 'Set the rule'],
  wrongAmount: [
    'Um valor é escrito como 50.000,00: ponto nos milhares, vírgula nos centavos.',
    'An amount is written as 50,000.00: a comma between thousands, a point before the cents.',
  ],
  outcomes: {
    applied: ['A regra vale a partir de agora.', 'The rule is in force from now on.'],
    already_applied: ['Esta já era a regra.', 'This was the rule already.'],
    awaiting_confirmation: [
      'A regra pede menos que a atual: espera pela confirmação de outra pessoa.',
      'The rule asks for less than the one in force: it awaits the confirmation of another person.',
    ],
  },
  back: ['Voltar aos fundos', 'Back to the funds'],
});

const EVIDENCES: readonly Evidence[] = ['signed-in', 'stated'];

/** A form that was refused, as it was typed. */
interface Refused {
  readonly form: 'name' | 'rule';
  readonly fundId: string;
  readonly fields: URLSearchParams;
  readonly says: () => string;
}

const refusedIn = (form: Refused['form'], fundId: string, refused: Refused | undefined) =>
  refused?.form === form && refused.fundId === fundId ? refused : undefined;

const saidView = (refused: Refused | undefined): View =>
  refused && html`<small id="refusal" class="problem" role="alert">${refused.says()}</small>`;

const amountAttributes = (typed: string) => ({
  ...{ value: typed, ...AMOUNT },
  ...(typed.trim() !== '' &&
    centsTyped(typed) === undefined && { 'aria-invalid': 'true', 'aria-describedby': 'refusal' }),
});

const ruleForm = (fundId: string, { rules, refused }: Shown, visit: Visit): View => {
  const rule = rules.get(fundId as FundId);
  const typed = refusedIn('rule', fundId, refused);
  const from = (name: string): string => {
    const covered = rule?.decisions.find(({ decision }) => decision === name);
    return typed?.fields.get(name) ?? (covered ? typedAmount(covered.from) : '');
  };
  const evidence = typed?.fields.get('evidence') ?? rule?.evidence ?? 'signed-in';
  return html`<details open=${typed !== undefined}>
    <summary>${texts.change}</summary>
    <form method="post" action="/funds/rule">
      ${tokenField(visit)} ${saidView(typed)}
      <input type="hidden" name="fund" value=${fundId} />
      ${COVERABLE.map((name) =>
        field(texts.from(decisions.decide[name]), { name, ...amountAttributes(from(name)) }),
      )}
      <small>${texts.fromHelp}</small>
      ${choiceField(texts.evidence, 'evidence', { options: EVIDENCES.map((one) => [one, awaiting.evidences[one]]), chosen: evidence })}
      <button disabled=${visit.readOnly}>${texts.send}</button>
    </form>
  </details>`;
};

const ruleView = (fundId: string, shown: Shown, visit: Visit): View => {
  const rule = shown.rules.get(fundId as FundId);
  const text = rule && rule.decisions.length > 0 ? ruleText(rule) : texts.onePerson;
  return [text, may(visit, 'configure', fundId) && ruleForm(fundId, shown, visit)];
};

/** @throws ConsoleProblem for an amount that cannot be read */
const decisionsIn = ({ fields }: Visit): readonly Covered[] =>
  COVERABLE.flatMap((decision): readonly Covered[] => {
    const refusal = (): ConsoleProblem => new ConsoleProblem(422, () => texts.wrongAmount);
    const from = typedOr(fields.get(decision)?.trim() ?? '', centsTyped, refusal);
    return from === undefined ? [] : [{ decision, from: cents(from) }];
  });

const setRule = async (visit: Visit, app: Desk): Promise<ActionAnswer> => {
  if (!may(visit, 'configure')) throw new RoleError('configure');
  const { fields } = visit;
  const fundId = await app.funds.find(fields.get('fund') ?? '');
  if (fundId === undefined) throw new ConsoleProblem(404, () => texts.unknown);
  try {
    return await ruleSet(fundId, visit, app);
  } catch (error) {
    if (error instanceof EarlierReleaseError) throw new ConsoleProblem(409, () => texts.earlier);
    return refusedForm(visit, app, { form: 'rule', fundId, decision: 'four_eyes', ...ruleRefusal(error) });
  }
};

/** @throws what nothing that is typed would help against */
const ruleRefusal = (error: unknown) => {
  if (error instanceof DomainError) return { reason: error.code, says: () => refusalText(error) };
  if (error instanceof ConsoleProblem) return { reason: 'validation_error', says: error.says };
  throw error;
};

const ruleSet = async (fundId: string, visit: Visit, app: Desk): Promise<ActionAnswer> => {
  const { fields, operator, person } = visit;
  const evidence = EVIDENCES.find((one) => one === fields.get('evidence')) ?? 'signed-in';
  const rule = { fundId, evidence, decisions: decisionsIn(visit) };
  const asked = { decisionId: randomUUID(), actor: actorNamed(operator) };
  const { outcome } = await app.administrator.rules.set(rule, asked, { name: operator, person });
  visit.logger.info({ operator, fund_id: fundId, outcome }, 'a rule of two people, set at the console');
  const shown = keptPage(visit, () => ({
    kind: 'page',
    body: html`
      <p class="done" role="status">${texts.outcomes[outcome]}</p>
      ${outcome === 'awaiting_confirmation' && html`<p><a href="/awaiting">${words.awaitingAnother}</a></p>`}
      <p><a href="/funds">${texts.back}</a></p>
    `,
  }));
  const line = { fundId, decision: 'four_eyes', decisionId: asked.decisionId, outcome } as const;
  return { ...shown, logged: [{ ...line, action: 'configured' }] };
};

const nameForm = ({ fundId, name }: ListedFund, { refused }: Shown, visit: Visit): View => {
  const typed = refusedIn('name', fundId, refused);
  const own = typed?.fields.get('name')?.trim() ?? name ?? '';
  if (!may(visit, 'configure', fundId)) return html`${own}`;
  return html`<form method="post" action=${`/funds/${fundId}/name`} class="inline">
    ${tokenField(visit)}
    <input
      name="name"
      value=${own}
      aria-label=${texts.nameOf(fundId)}
      aria-invalid=${typed && 'true'}
      aria-describedby=${typed && 'refusal'}
      required
      maxlength="160"
      autocomplete="off"
      disabled=${visit.readOnly}
    />
    <button class="secondary" disabled=${visit.readOnly}>${texts.give}</button>
    ${saidView(typed)}
  </form>`;
};

interface Shown {
  readonly funds: readonly ListedFund[];
  readonly rules: FourEyesState['rules'];
  readonly refused?: Refused;
}

const fundsView = (shown: Shown, visit: Visit): View => html`
  <p>${texts.intro}</p>
  <p>${texts.lead}</p>
  ${tableView(
    { label: texts.title, empty: empty(texts.none, texts.whatComes) },
    [
      [words.fund, ({ fundId }) => fundId, 'code'],
      [texts.name, (fund) => nameForm(fund, shown, visit)],
      [texts.ruleTitle, ({ fundId }) => ruleView(fundId, shown, visit), 'wide'],
    ],
    shown.funds,
  )}
  <p><small>${texts.rule}</small></p>
`;

/** @throws what no other name would help against */
const refusalOf = (error: unknown): 'invalid' | 'taken' | 'earlier' => {
  if (error instanceof EarlierReleaseError) return 'earlier';
  if (!(error instanceof DomainError)) throw error;
  if (error.code === 'validation_error') return 'invalid';
  if (error.code === 'fund_not_allowed') return 'taken';
  throw error;
};

const shownOf = async ({ administrator, funds }: Desk): Promise<Shown> => {
  const [listed, { rules }] = await Promise.all([funds.list(), administrator.rules.current()]);
  return { funds: listed, rules };
};

const refusedForm = async (
  visit: Visit,
  app: Desk,
  {
    reason,
    decision,
    ...refused
  }: Omit<Refused, 'fields'> & { readonly reason: string; readonly decision: string },
): Promise<ActionAnswer> => {
  const shown = { ...(await shownOf(app)), refused: { ...refused, fields: visit.fields } };
  const kept = keptPage(visit, (now) => ({
    kind: 'page',
    status: 422,
    title: texts.title,
    body: fundsView(shown, now),
  }));
  const { fundId } = refused;
  return { ...kept, logged: [{ fundId, decision, action: 'refused', outcome: 'refused', reason }] };
};

const nameFund = async (visit: Visit, app: Desk): Promise<ActionAnswer> => {
  if (!may(visit, 'configure')) throw new RoleError('configure');
  const listed = await shownOf(app);
  const fundId = visit.params['fund']!.toLowerCase();
  if (!listed.funds.some((one) => one.fundId === fundId)) throw new ConsoleProblem(404, () => texts.unknown);
  const name = (visit.fields.get('name') ?? '').trim();
  const line = { fundId, decision: 'name_fund' } as const;
  try {
    await app.funds.name({ fundId, name, operator: visit.operator });
  } catch (error) {
    const refusal = refusalOf(error);
    const reason = error instanceof DomainError ? error.code : 'not_allowed';
    return refusedForm(visit, app, { ...line, form: 'name', reason, says: () => texts[refusal] });
  }
  return { kind: 'redirect', to: '/funds', logged: [{ ...line, action: 'configured' }] };
};

export const fundsPage: Page = {
  path: '/funds',
  title: () => texts.title,
  routes: [
    view('/funds', async (visit, app) => {
      const listed = await shownOf(app);
      return {
        kind: 'page',
        logged: listing(listed.funds.length),
        body: fundsView(listed, visit),
      };
    }),
    action('/funds/rule', setRule),
    action('/funds/:fund/name', nameFund),
  ],
};
