import type { DecisionName } from '../../../../application/publishing/description/decision-schema.ts';
import { ConsoleProblem, action, query, view } from '../../page.ts';
import type { Answer, Page, Visit } from '../../page.ts';
import type { ConsoleServices } from '../../services.ts';
import { WORDS } from '../words.ts';
import { detailView } from './detail.ts';
import { documentOf } from './document.ts';
import { OFFERED, isAwaiting, isDecision, operationsNamed } from './offered.ts';
import { decisionsOf, draftSent, newDraft, previewView, problemOf, resultView } from './preview.ts';
import { DECISIONS } from './texts.ts';
import { placeOf, waitingNow, worklistView } from './worklist.ts';
import type { Filter } from './worklist.ts';

const PAGE_SIZE = 50;

const filterOf = (visit: Visit): Filter => {
  const [fundId, status] = [visit.query.get('fund'), visit.query.get('status')];
  return { ...(fundId && { fundId }), ...(isAwaiting(status) && { status }) };
};

const worklist = async (visit: Visit, services: ConsoleServices): Promise<Answer> => {
  const { desk } = services;
  const filter = filterOf(visit);
  const after = placeOf(visit.query.get('after'));
  const [groups, found] = await Promise.all([
    desk.waiting(),
    desk.worklist({ ...filter, limit: PAGE_SIZE, ...(after && { after }) }),
  ]);
  const operations = found.slice(0, PAGE_SIZE);
  const next = found.length > PAGE_SIZE ? operations.at(-1) : undefined;
  return {
    kind: 'page',
    body: worklistView({ filter, groups, operations, next, now: services.now() }, visit),
  };
};

/** The chosen operations that wait for the chosen decision, and how many others were chosen. */
const chosen = async ({ fields }: Visit, { desk }: ConsoleServices) => {
  const decision = fields.get('decision');
  const named = operationsNamed(fields);
  if (!isDecision(decision) || named.length === 0)
    throw new ConsoleProblem(422, {
      'pt-BR': DECISIONS['pt-BR'].nothingChosen,
      en: DECISIONS.en.nothingChosen,
    });
  const waiting = await desk.stillWaiting(named);
  const operations = waiting.filter(({ status }) => OFFERED[status].includes(decision));
  return { decision, operations, others: named.length - operations.length };
};

const titleOf = (decision: DecisionName, { language }: Visit): string =>
  `${DECISIONS[language].decide[decision]}: ${DECISIONS[language].preview.toLowerCase()}`;

const preview = async (visit: Visit, services: ConsoleServices): Promise<Answer> => {
  const { decision, operations, others } = await chosen(visit, services);
  const draft = newDraft(decision, operations, services.today());
  return { kind: 'page', title: titleOf(decision, visit), body: previewView(draft, others, visit) };
};

/**
 * Every operation of the form is decided on, whatever its state is by now: one whose decision was carried out by a first try is
 * answered as done already, another one is refused by the rules.
 */
const decide = async (visit: Visit, services: ConsoleServices): Promise<Answer> => {
  const { decision, operations } = await chosen(visit, services);
  const draft = draftSent(decision, operations, visit.fields);
  const problem = problemOf(draft, visit.language);
  if (problem !== undefined)
    return {
      kind: 'page',
      status: 422,
      title: titleOf(decision, visit),
      body: previewView(draft, 0, visit, problem),
    };
  const answers = await services.decide(decisionsOf(draft), visit.operator);
  return {
    kind: 'page',
    title: `${DECISIONS[visit.language].decide[decision]}: ${DECISIONS[visit.language].results.toLowerCase()}`,
    body: resultView(answers, draft, visit.language),
  };
};

const detail = async (visit: Visit, { operations }: ConsoleServices): Promise<Answer> => {
  const { application = '', code = '' } = visit.params;
  const loan = await operations.read(application, code);
  if (loan === undefined)
    throw new ConsoleProblem(404, { 'pt-BR': WORDS['pt-BR'].noOperation, en: WORDS.en.noOperation });
  return { kind: 'page', title: code, body: detailView(loan, application, visit) };
};

export const decisionsPage: Page = {
  path: '/decisions',
  title: { 'pt-BR': 'Decisões', en: 'Decisions' },
  live: true,
  routes: [
    view('/decisions', worklist),
    view('/decisions/waiting', async (visit, { desk }) => ({
      kind: 'part',
      body: waitingNow(await desk.waiting(), visit),
    })),
    query('/decisions/preview', preview),
    action('/decisions/decide', decide),
    view('/decisions/:application/:code', detail),
    view('/documents/:application/:code/:document', documentOf),
  ],
};
