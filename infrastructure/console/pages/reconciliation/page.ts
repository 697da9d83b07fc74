import type { Desk } from '../../../../application/desk-view/desk.ts';
import { RESULTS } from '../../../../application/reconciliation/comparison.ts';
import { StatementError } from '../../../../application/reconciliation/statements.ts';
import type { DeskEntry } from '../../../../domain/desk/line.ts';
import { cents } from '../../../../domain/shared/money.ts';
import { printReconciliation } from '../../../presenting/reconciliation.ts';
import { leftOutView, reportFile, csvFor, fileOf } from '../../files.ts';
import { fundNames } from '../../funds.ts';
import { html } from '../../html.ts';
import type { View } from '../../html.ts';
import { Kept } from '../../kept.ts';
import { either } from '../../language.ts';
import { ConsoleProblem, query, upload, view } from '../../page.ts';
import type { Answer, Page, Visit } from '../../page.ts';
import {
  formatIn,
  layoutIn,
  mappingForm,
  periodIn,
  typedFirst,
  typedIn,
  uploadForm,
  LARGEST,
  MOST_ASKED,
  keepAsked,
  statementAt,
  statementPath,
  statements,
} from './form.ts';
import type { KeptStatement } from './form.ts';
import { codesFirst, codesOf, moreRows, resultView, someOf } from './result.ts';
import { problemText, texts } from './texts.ts';

const problem = (status: number, of: 'gone' | 'badFund'): ConsoleProblem =>
  new ConsoleProblem(status, () => texts[of]);

const section = (body: View): View => html`<section id="reconciliation">${body}</section>`;

const begun = (): View =>
  section(
    html`<p>${texts.intro}</p>
      ${uploadForm(texts.file)}`,
  );

const keptIn = (visit: Visit): { readonly id: string; readonly statement: KeptStatement } => {
  const id = visit.fields.get('statement') ?? '';
  return { id, statement: statementAt(visit, id) };
};

const lines = (action: 'viewed' | 'exported', result: KeptStatement['compared']): readonly DeskEntry[] => {
  if (result === undefined) return [{ action }];
  const { count, amount } = result.statement;
  const { fundId } = result.period;
  // A file may hold more than can be counted.
  const sum = Number.isSafeInteger(amount) ? { sum: cents(amount) } : {};
  return [{ action, decision: 'reconcile', fundId, count, ...sum }];
};

const NOT_COMPARED: DeskEntry = {
  ...{ action: 'refused', outcome: 'refused' },
  ...{ reason: 'validation_error', decision: 'reconcile' },
};

/** A statement with what was asked of it last and what came of that; loading the page again asks nothing anew. */
const shown = async (visit: Visit, app: Desk): Promise<Answer> => {
  const { params } = visit;
  const id = params['statement']!;
  const statement = statementAt(visit, id);
  const { said, compared: result } = statement;
  const [funds, names, applications] = await Promise.all([
    app.clients.funds(),
    fundNames(app, visit),
    result
      ? app.reconciliation.applicationsOf(result.period.fundId, codesFirst(result))
      : new Map<string, string>(),
  ]);
  return {
    kind: 'page',
    logged: lines('viewed', result),
    body: section(
      html`${said && html`<p class="problem" role="alert">${said()}</p>`}
        ${result && (await leftOutView(app, [result.period.fundId]))}
        ${result && resultView(visit, id, { result, applications })}
        <details open=${result === undefined}>
          <summary>${texts.mapping}</summary>
          ${mappingForm({ id, statement, funds, names }, visit)}
        </details>
        <details>
          <summary>${texts.another}</summary>
          ${uploadForm(texts.another)}
        </details>`,
    ),
  };
};

const taken = async (visit: Visit, app: Desk): Promise<Answer> => {
  const { name, bytes } = fileOf(visit);
  const [preview, funds, names] = await Promise.all([
    app.reconciliation.preview(bytes),
    app.clients.funds(),
    fundNames(app, visit),
  ]);
  const typed = typedFirst({ funds, names }, preview.above);
  const statement: KeptStatement = { name, bytes, preview, typed, asked: new Kept(MOST_ASKED) };
  // What cannot be read as it seems to be written is no mistake of the person, who says next how it is.
  await dated(statement, app).catch(saidOf);
  return { kind: 'redirect', to: statementPath(statements.keep(visit, statement)) };
};

/** What the person can put right, in the person's language; anything else is thrown on. */
const saidOf = (error: unknown): (() => string) => {
  if (error instanceof StatementError) return () => problemText(error.problem);
  if (error instanceof ConsoleProblem) return error.says;
  throw error;
};

/** Whatever comes of it is kept beside what was found before, which another tab may show. */
const asked = async (visit: Visit, work: (statement: KeptStatement) => Promise<void>): Promise<Answer> => {
  const { id, statement: before } = keptIn(visit);
  const statement: KeptStatement = {
    ...before,
    typed: typedIn(visit.fields),
    compared: undefined,
    said: undefined,
  };
  try {
    await work(statement);
  } catch (error) {
    statement.said = saidOf(error);
  }
  const logged = statement.said ? [NOT_COMPARED] : lines('viewed', statement.compared);
  return { kind: 'redirect', to: statementPath(keepAsked(visit, id, statement)), logged };
};

/** Days that were not typed are those of the file. @throws StatementError */
const dated = async (statement: KeptStatement, { reconciliation }: Desk): Promise<void> => {
  const { typed, preview } = statement;
  if (typed.from !== '' && typed.to !== '') return;
  const days = await reconciliation.daysOf(statement, preview.format);
  statement.typed = { ...typed, from: typed.from || days.from, to: typed.to || days.to };
};

const readAgain = (visit: Visit, app: Desk): Promise<Answer> =>
  asked(visit, async (statement) => {
    statement.preview = await app.reconciliation.preview(statement.bytes, layoutIn(visit.fields));
    await dated(statement, app).catch(saidOf);
  });

const compared = (visit: Visit, app: Desk): Promise<Answer> =>
  asked(visit, async (statement) => {
    const format = formatIn(visit.fields);
    statement.preview = { ...(await app.reconciliation.preview(statement.bytes, format)), format };
    await dated(statement, app);
    const request = periodIn(statement.typed);
    const fundId = await app.funds.find(statement.typed.fund);
    if (fundId === undefined) throw problem(422, 'badFund');
    statement.compared = await app.reconciliation.compare({ fundId, ...request, statement, format });
  });

const further = async (visit: Visit, app: Desk): Promise<Answer> => {
  const { id, statement } = keptIn(visit);
  const wanted = RESULTS.find((one) => one === visit.fields.get('result'));
  const from = Number(visit.fields.get('from'));
  if (statement.compared === undefined || wanted === undefined || !Number.isSafeInteger(from) || from < 0)
    throw problem(410, 'gone');
  const found = someOf(statement.compared, wanted, from);
  const logged = lines('viewed', statement.compared);
  const { fundId } = statement.compared.period;
  const applications = await app.reconciliation.applicationsOf(fundId, codesOf(found));
  return { kind: 'part', logged, body: moreRows(id, { found, wanted, from, fundId, applications }) };
};

const exported = async (visit: Visit, app: Desk): Promise<Answer> => {
  const { compared: result } = keptIn(visit).statement;
  if (result === undefined) throw problem(410, 'gone');
  const format = visit.fields.get('format') === 'json' ? 'json' : 'csv';
  const { fundId, from, to } = result.period;
  const fundName = (await app.funds.names()).get(fundId);
  const rows = printReconciliation(result, { ...csvFor(visit), format, withMatched: true, fundName });
  const name = `reconciliation-${from}-${to}.${format}`;
  return { ...(await reportFile(app, { name, rows, funds: [fundId] })), logged: lines('exported', result) };
};

export const reconciliationPage: Page = {
  path: '/reconciliation',
  title: () => either('Conciliação', 'Reconciliation'),
  needs: 'reconcile',
  routes: [
    view('/reconciliation', async () => ({ kind: 'page', body: begun() })),
    view('/reconciliation/:statement', shown),
    upload('/reconciliation/statement', LARGEST, taken),
    query('/reconciliation/preview', readAgain),
    query('/reconciliation/compare', compared),
    query('/reconciliation/found', further),
    query('/reconciliation/export', exported),
  ],
};
