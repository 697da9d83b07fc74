import type { Desk } from '../../../../application/desk-view/desk.ts';
import { RoleError, may } from '../../../../application/desk/rights.ts';
import { EarlierReleaseError } from '../../../../application/event-codec/stored-formats.ts';
import type { ListedFund } from '../../../../application/funds/funds.ts';
import type { FourEyesState } from '../../../../domain/fund/four-eyes.ts';
import { DomainError } from '../../../../domain/shared/domain-error.ts';
import { empty, html } from '../../html.ts';
import type { View } from '../../html.ts';
import { keptPage } from '../../kept-pages.ts';
import { tokenField } from '../../layout.ts';
import { ConsoleProblem, action, view } from '../../page.ts';
import type { ActionAnswer, Page, Visit } from '../../page.ts';
import { tableView } from '../../table.ts';
import { words } from '../words.ts';
import { ruleView, setRule } from './rules.ts';
import { ruleTexts, texts } from './texts.ts';

type Refusal = 'invalid' | 'taken' | 'earlier';

/** What was typed for a fund, and why it was refused. */
interface Typed {
  readonly fundId: string;
  readonly name: string;
  readonly refusal: Refusal;
}

const nameForm = ({ fundId, name }: ListedFund, visit: Visit, typed: Typed | undefined): View => {
  const [own, said] = typed?.fundId === fundId ? [typed.name, texts[typed.refusal]] : [name ?? '', undefined];
  if (!may(visit, 'configure', fundId)) return html`${own}`;
  return html`<form method="post" action=${`/funds/${fundId}/name`} class="inline">
    ${tokenField(visit)}
    <input
      name="name"
      value=${own}
      aria-label=${texts.nameOf(fundId)}
      aria-invalid=${said && 'true'}
      aria-describedby=${said && 'refusal'}
      required
      maxlength="160"
      autocomplete="off"
      disabled=${visit.readOnly}
    />
    <button class="secondary" disabled=${visit.readOnly}>${texts.give}</button>
    ${said && html`<small id="refusal" class="problem" role="alert">${said}</small>`}
  </form>`;
};

interface Shown {
  readonly funds: readonly ListedFund[];
  readonly rules: FourEyesState['rules'];
}

const fundsView = ({ funds, rules }: Shown, visit: Visit, typed?: Typed): View => {
  return html`
    <p>${texts.intro}</p>
    <p>${ruleTexts.lead}</p>
    ${tableView(
      { label: texts.title, empty: empty(texts.none, texts.whatComes) },
      [
        [words.fund, ({ fundId }) => fundId, 'code'],
        [texts.name, (fund) => nameForm(fund, visit, typed)],
        [ruleTexts.rule, ({ fundId }) => ruleView(fundId, rules, visit), 'wide'],
      ],
      funds,
    )}
    <p><small>${texts.rule}</small></p>
  `;
};

/** @throws what no other name would help against */
const refusalOf = (error: unknown): Refusal => {
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
    const typed = { fundId, name, refusal: refusalOf(error) };
    const reason = error instanceof DomainError ? error.code : 'not_allowed';
    const shown = keptPage(visit, (now) => ({
      kind: 'page',
      status: 422,
      title: texts.title,
      body: fundsView(listed, now, typed),
    }));
    return { ...shown, logged: [{ ...line, action: 'refused', outcome: 'refused', reason }] };
  }
  return { kind: 'redirect', to: '/funds', logged: [{ ...line, action: 'configured' }] };
};

/** The funds, and how people call them. */
export const fundsPage: Page = {
  path: '/funds',
  title: () => texts.title,
  routes: [
    view('/funds', async (visit, app) => {
      const listed = await shownOf(app);
      return {
        kind: 'page',
        logged: [{ action: 'listed', count: listed.funds.length }],
        body: fundsView(listed, visit),
      };
    }),
    action('/funds/rule', setRule),
    action('/funds/:fund/name', nameFund),
  ],
};
