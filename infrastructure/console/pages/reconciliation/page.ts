import { RESULTS } from '../../../../application/reconciliation/reconciliation.ts';
import type { Result } from '../../../../application/reconciliation/reconciliation.ts';
import { StatementError } from '../../../../application/reconciliation/statement-lines.ts';
import { html } from '../../html.ts';
import type { View } from '../../html.ts';
import { isLanguage } from '../../language.ts';
import type { KeptStatement } from '../../kept-statements.ts';
import { ConsoleProblem, query, upload, view } from '../../page.ts';
import type { Answer, Page, Visit } from '../../page.ts';
import type { ConsoleServices } from '../../services.ts';
import { readUpload } from '../../upload.ts';
import { formatIn, layoutIn, mappingForm, periodIn, typedFirst, typedIn, uploadForm } from './form.ts';
import type { Mapping } from './form.ts';
import { resultView, rowsView, someOf } from './result.ts';
import { RECONCILIATION, problemText } from './texts.ts';

const LARGEST = 16 * 1_048_576;

const problem = (status: number, of: 'gone' | 'badFund'): ConsoleProblem =>
  new ConsoleProblem(status, { 'pt-BR': RECONCILIATION['pt-BR'][of], en: RECONCILIATION.en[of] });

/** The page without its title; each step takes the place of the one before. */
const section = (body: View): View => html`<section id="reconciliation">${body}</section>`;

const begun = (visit: Visit): View => {
  const texts = RECONCILIATION[visit.language];
  return section(
    html`<p>${texts.intro}</p>
      ${uploadForm(visit, texts.file)}`,
  );
};

const mapped = (
  visit: Visit,
  mapping: Mapping,
  more: { readonly said?: string; readonly found?: View } = {},
): View => {
  const texts = RECONCILIATION[visit.language];
  return section(
    html`${more.said !== undefined && html`<p class="problem" role="alert">${more.said}</p>`} ${more.found}
      <details open=${more.found === undefined}>
        <summary>${texts.mapping}</summary>
        ${mappingForm(mapping, visit)}
      </details>
      <details>
        <summary>${texts.another}</summary>
        ${uploadForm(visit, texts.another)}
      </details>`,
  );
};

const fundsOf = async (services: ConsoleServices): Promise<readonly string[]> =>
  [...new Set((await services.clients()).flatMap(({ fundIds }) => fundIds))].toSorted();

const keptIn = ({ fields }: Visit, { reconciliation }: ConsoleServices): KeptStatement => {
  const statement = reconciliation.kept.find(fields.get('statement') ?? '');
  if (statement === undefined) throw problem(410, 'gone');
  return statement;
};

const taken = async (visit: Visit, services: ConsoleServices): Promise<Answer> => {
  const { name, bytes } = await readUpload(visit.request, LARGEST);
  const { reconciliation } = services;
  const mapping = {
    statement: reconciliation.kept.keep(name, bytes),
    preview: reconciliation.preview(bytes),
    typed: typedFirst(services.today()),
    funds: await fundsOf(services),
  };
  return { kind: 'part', body: mapped(visit, mapping) };
};

const readAgain = async (visit: Visit, services: ConsoleServices): Promise<Answer> => {
  const statement = keptIn(visit, services);
  const preview = services.reconciliation.preview(statement.bytes, layoutIn(visit.fields));
  const mapping = { statement, preview, typed: typedIn(visit.fields), funds: await fundsOf(services) };
  return { kind: 'part', body: mapped(visit, mapping) };
};

/** What the person can put right, in the person's language; anything else is thrown on. */
const saidOf = (error: unknown, { language }: Visit): string => {
  if (error instanceof StatementError) return problemText(error.problem, language);
  if (error instanceof ConsoleProblem && isLanguage(language)) return error.texts[language];
  throw error;
};

const compared = async (visit: Visit, services: ConsoleServices): Promise<Answer> => {
  const { fields } = visit;
  const { reconciliation } = services;
  const statement = keptIn(visit, services);
  const format = formatIn(fields);
  const { records } = reconciliation.preview(statement.bytes, layoutIn(fields));
  const typed = typedIn(fields);
  const mapping = { statement, preview: { format, records }, typed, funds: await fundsOf(services) };
  try {
    const request = periodIn(typed);
    if (!(await reconciliation.knowsFund(request.fundId))) throw problem(422, 'badFund');
    const result = await reconciliation.compare(statement, format, request);
    statement.compared = result;
    return { kind: 'part', body: mapped(visit, mapping, { found: resultView(visit, statement, result) }) };
  } catch (error) {
    return { kind: 'part', status: 422, body: mapped(visit, mapping, { said: saidOf(error, visit) }) };
  }
};

const isResult = (text: string | null): text is Result =>
  (RESULTS as readonly (string | null)[]).includes(text);

const further = async (visit: Visit, services: ConsoleServices): Promise<Answer> => {
  const statement = keptIn(visit, services);
  const [wanted, from] = [visit.fields.get('result'), Number(visit.fields.get('from'))];
  if (statement.compared === undefined || !isResult(wanted) || !Number.isSafeInteger(from) || from < 0)
    throw problem(410, 'gone');
  const found = someOf(statement.compared, wanted, from);
  return { kind: 'part', body: rowsView(visit, statement, { found, wanted, from }) };
};

const exported = async (visit: Visit, services: ConsoleServices): Promise<Answer> => {
  const { compared: result } = keptIn(visit, services);
  if (result === undefined) throw problem(410, 'gone');
  const format = visit.fields.get('format') === 'json' ? 'json' : 'csv';
  const { from, to } = result.period;
  return {
    kind: 'file',
    name: `reconciliation-${from}-${to}.${format}`,
    mediaType: format === 'csv' ? 'text/csv; charset=utf-8' : 'application/json',
    content: services.reconciliation.written(result, format),
  };
};

export const reconciliationPage: Page = {
  path: '/reconciliation',
  title: { 'pt-BR': 'Conciliação', en: 'Reconciliation' },
  routes: [
    view('/reconciliation', async (visit) => ({ kind: 'page', body: begun(visit) })),
    upload('/reconciliation/statement', taken),
    query('/reconciliation/preview', readAgain),
    query('/reconciliation/compare', compared),
    query('/reconciliation/found', further),
    query('/reconciliation/export', exported),
  ],
};
