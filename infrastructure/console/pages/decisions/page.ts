import { hash } from 'node:crypto';
import type { Desk } from '../../../../application/desk-view/desk.ts';
import { PDF, begun } from '../../../support/stored-files.ts';
import { ConsoleProblem, action, part, query, view } from '../../page.ts';
import type { ActionAnswer, Answer, Page, PageAnswer, Visit } from '../../page.ts';
import type { PendingOperation, WaitingPlace } from '../../../../application/administrator/worklists.ts';
import { statusOf } from '../../../../application/administrator/answers.ts';
import type { DecisionAnswer } from '../../../../application/administrator/answers.ts';
import type { DecisionName } from '../../../../application/publication/description/decision-schema.ts';
import { may } from '../../../../application/desk/rights.ts';
import { listing } from '../../desk-log.ts';
import { fundNames } from '../../funds.ts';
import { keptPage } from '../../kept.ts';
import { either } from '../../language.ts';
import { decisionPath, operationIn } from '../../paths.ts';
import { awaitingLink } from '../awaiting/page.ts';
import { words } from '../words.ts';
import { decideAll, resultView } from './result.ts';
import { exposureOf, detailView } from './detail.ts';
import {
  filterIn,
  filterSent,
  listPath,
  placeOf,
  OFFERED,
  isAwaiting,
  isDecision,
  keyOf,
  operationsNamed,
} from './offered.ts';
import type { Filter } from './offered.ts';
import { acquisitionSum, decisionsOf, draftSent, isReadable, newDraft, problemsOf } from './draft.ts';
import type { Draft } from './draft.ts';
import { previewView } from './preview.ts';
import type { Around } from './preview.ts';
import { isTally, tallyIn, waitingNow, worklistView } from './worklist.ts';
import { texts } from './texts.ts';

const documentOf = async ({ params }: Visit, { loans }: Desk): Promise<Answer> => {
  const { code, ...reader } = operationIn({ params });
  const { name, pieces } = await loans.document(reader, code, params['document']!);
  const { mediaType, pieces: content } = await begun(pieces);
  return { kind: 'file', name, mediaType, inline: mediaType === PDF, content };
};

const PAGE_SIZE = 50;

const listAt = ({ query }: Visit, { administrator }: Desk, limit: number) => {
  const [filter, after] = [filterIn(query), placeOf(query.get('after'))];
  return administrator.worklists.worklist({ ...filter, limit, ...(after && { after }) });
};

const worklist = async (visit: Visit, app: Desk): Promise<PageAnswer> => {
  const filter = filterIn(visit.query);
  const after = placeOf(visit.query.get('after'));
  const [groups, link, names, found] = await Promise.all([
    app.administrator.worklists.waiting(),
    awaitingLink(app),
    fundNames(app, visit),
    listAt(visit, app, PAGE_SIZE),
  ]);
  const operations = found.slice(0, PAGE_SIZE);
  const next = found.length > PAGE_SIZE ? operations.at(-1) : undefined;
  const list = {
    ...{ filter, groups, names, operations, next },
    facts: await app.loans.facts.of(operations),
    here: followPath(filter, after, seenOf(operations)),
    now: visit.clock.now(),
  };
  return {
    kind: 'page',
    logged: listing(operations.length, filter.fundId),
    shows: operations.map(keyOf),
    body: [link, worklistView(list, visit)],
  };
};

const seenOf = (operations: readonly PendingOperation[]): string =>
  hash('sha256', JSON.stringify(operations.map((one) => [keyOf(one), one.status]))).slice(0, 16);

const followPath = (filter: Filter, after: WaitingPlace | undefined, seen: string): string => {
  const path = listPath('/decisions/listed', filter, after);
  return `${path}${path.includes('?') ? '&' : '?'}seen=${seen}`;
};

/** The list once more for a page that follows it: nothing while it is what the page has, which nobody saw anew then. */
const listed = async (visit: Visit, app: Desk): Promise<Answer> => {
  const found = await listAt(visit, app, PAGE_SIZE);
  if (seenOf(found.slice(0, PAGE_SIZE)) === visit.query.get('seen'))
    return { kind: 'part', body: null, logged: [] };
  return { ...(await worklist(visit, app)), kind: 'part' };
};

const NEXT_LOOKED_AT = 100;

/** The first of the list that the person may decide on, behind a place in it; the list, where there is none. */
const next = async (visit: Visit, app: Desk): Promise<Answer> => {
  const found = await listAt(visit, app, NEXT_LOOKED_AT);
  const first = found.find(({ fundId }) => may(visit, 'decide', fundId));
  return {
    kind: 'redirect',
    to: listPath(first ? decisionPath(first) : '/decisions', filterIn(visit.query)),
  };
};

/** @throws ConsoleProblem where no decision or no operation was chosen */
const chosen = ({ fields }: Visit) => {
  const decision = fields.get('decision');
  const named = operationsNamed(fields);
  if (!isDecision(decision) || named.length === 0) throw new ConsoleProblem(422, () => texts.nothingChosen);
  return { decision, named };
};

const titleOf = (decision: DecisionName, what: string): string =>
  `${texts.decide[decision]}: ${what.toLowerCase()}`;

/** The form, to be gone back to: sent again as it is, it decides nothing twice. */
const form = (visit: Visit, draft: Draft, around: Around) =>
  keptPage(visit, (now) => ({
    kind: 'page',
    ...(around.problems && { status: 422 }),
    title: titleOf(draft.decision, texts.preview),
    body: previewView(draft, around, now),
  }));

const preview = async (visit: Visit, app: Desk): Promise<Answer> => {
  const { decision, named } = chosen(visit);
  const { administrator } = app;
  const waiting = (await administrator.worklists.stillWaiting(named)).filter(({ status }) =>
    OFFERED[status].includes(decision),
  );
  const draft = await newDraft(decision, waiting, visit.clock.today(), administrator);
  const sum = waiting.reduce((all, { acquisitionValue }) => all + acquisitionValue, 0);
  const tally = tallyIn(visit.fields);
  const around = {
    ...{ filter: filterSent(visit.fields), others: named.length - waiting.length },
    ...(!isTally(tally, waiting.length, sum) && { tally }),
    ...(await shownBeside(draft, visit, app)),
  };
  return { ...form(visit, draft, around), logged: listing(waiting.length) };
};

const shownBeside = async (draft: Draft, visit: Visit, app: Desk) => {
  const funds = [...new Set(draft.lines.flatMap(({ found }) => (found ? [found.loan.fundId] : [])))];
  const [names, used] = await Promise.all([
    fundNames(app, visit),
    draft.decision === 'reject' ? app.loans.facts.reasons(funds) : [],
  ]);
  return { names, used };
};

/** @throws ConsoleProblem where the form has other operations than the page that it stood on */
const requireTally = (draft: Draft, { fields }: Visit): void => {
  const tally = tallyIn(fields);
  // Of one that cannot be read any more nobody knows the value; it is refused by itself.
  const sum = draft.lines.every(({ found }) => found) ? acquisitionSum(draft) : tally?.sum;
  if (!isTally(tally, draft.lines.length, sum)) throw new ConsoleProblem(422, () => texts.otherTally);
};

const CHANGED = { action: 'refused', outcome: 'refused', reason: 'operation_invalid_state' } as const;

/** As the administrator's module answers; what was not asked to be mended, since it has changed meanwhile, is refused for that. */
const answersTo = async (draft: Draft, visit: Visit, app: Desk) => {
  const readable = draft.lines.filter((line) => isReadable(draft, line));
  const answers = await decideAll(decisionsOf({ ...draft, lines: readable }), visit, app);
  return draft.lines.map((line): DecisionAnswer => {
    const { found } = line;
    if (!found || isReadable(draft, line)) return answers[readable.indexOf(line)]!;
    const meanwhile = { status: statusOf(found.loan), changes: found.changes };
    return {
      outcome: 'refused',
      reason: { code: CHANGED.reason, message: '', details: [] },
      meanwhile,
    };
  });
};

/**
 * Every operation of the form is decided on, whatever its state is by now: one whose decision was carried out by a first try is
 * answered as done already, another one is refused by the rules.
 */
const decide = async (visit: Visit, app: Desk): Promise<ActionAnswer> => {
  const { decision } = chosen(visit);
  const draft = await draftSent(decision, visit.fields, app.administrator);
  requireTally(draft, visit);
  const filter = filterSent(visit.fields);
  const { disbursementTolerance: tolerance } = app.administrator;
  const problems = problemsOf(draft, { today: visit.clock.today(), tolerance });
  if (problems.length > 0)
    return {
      ...form(visit, draft, { problems, filter, ...(await shownBeside(draft, visit, app)) }),
      logged: [{ action: 'refused', outcome: 'refused', reason: 'validation_error', decision }],
    };
  const answers = await answersTo(draft, visit, app);
  const then = await leftOf(filter, draft, app);
  const kept = keptPage(visit, () => ({
    kind: 'page',
    title: titleOf(decision, words.result),
    body: resultView({ answers, draft, then }),
  }));
  // The lines of what was handed on were written when it was decided.
  const left = draft.lines.filter((line) => !isReadable(draft, line));
  return {
    ...kept,
    logged: left.map(({ applicationId, code }) => ({ ...CHANGED, decision, applicationId, code })),
  };
};

/** What still waits of the list that was worked through; of all states, the list is the one of what was decided. */
const leftOf = async (filter: Filter, { lines }: Draft, { administrator }: Desk) => {
  const states = new Set(lines.map(({ status }) => status));
  const [state = null] = states.size === 1 ? states : [];
  const status = filter.status ?? (isAwaiting(state) ? state : undefined);
  const list = { ...filter, ...(status && { status }) };
  const groups = (await administrator.worklists.waiting()).filter(
    (group) =>
      (filter.fundId === undefined || group.fundId === filter.fundId) &&
      (status === undefined || group.status === status),
  );
  return {
    filter: list,
    operations: groups.reduce((sum, group) => sum + group.operations, 0),
    acquisitionValue: groups.reduce((sum, group) => sum + group.acquisitionValue, 0),
  };
};

const detail = async (visit: Visit, app: Desk): Promise<Answer> => {
  const { applicationId, code } = operationIn(visit);
  const loan = await app.loans.read({ applicationId }, code);
  if (loan === undefined) throw new ConsoleProblem(404, () => words.noOperation);
  const [names, applications] = await Promise.all([fundNames(app, visit), app.clients.applicationNames()]);
  const around = { applicationId, names, applications, filter: filterIn(visit.query) };
  return { kind: 'page', title: code, body: detailView(loan, around, visit) };
};

export const decisionsPage: Page = {
  path: '/decisions',
  title: () => either('Decisões', 'Decisions'),
  live: true,
  routes: [
    view('/decisions', worklist),
    part('/decisions/waiting', async (_visit, { administrator }) =>
      waitingNow(await administrator.worklists.waiting()),
    ),
    view('/decisions/listed', listed),
    view('/decisions/next', next),
    query('/decisions/preview', preview),
    action('/decisions/decide', decide),
    view('/decisions/:application/:code', detail),
    part('/decisions/:application/:code/exposure', exposureOf),
    view('/documents/:application/:code/:document', documentOf),
  ],
};
