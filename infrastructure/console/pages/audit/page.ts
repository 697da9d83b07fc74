import { isCalendarDate } from '../../../../domain/shared/calendar-date.ts';
import { momentTyped } from '../../format.ts';
import { html } from '../../html.ts';
import type { View } from '../../html.ts';
import { tokenField } from '../../layout.ts';
import { operationPath } from '../../names.ts';
import { ConsoleProblem, action, query, upload, view } from '../../page.ts';
import type { Answer, Page, Visit } from '../../page.ts';
import type { ConsoleServices } from '../../services.ts';
import { readUpload } from '../../upload.ts';
import { AUDIT } from './texts.ts';
import { verificationView } from './verification.ts';

const LARGEST_ANCHOR = 32 * 1_048_576;
const LONGEST_CODE = 100;

const problem = (
  status: number,
  of: 'busy' | 'badFund' | 'badCode' | 'badDay' | 'badMoment',
): ConsoleProblem => new ConsoleProblem(status, { 'pt-BR': AUDIT['pt-BR'][of], en: AUDIT.en[of] });

const fundsOf = async (services: ConsoleServices): Promise<readonly string[]> =>
  [...new Set((await services.clients()).flatMap(({ fundIds }) => fundIds))].toSorted();

/** Applications by the names of their clients. */
const applicationsOf = async (services: ConsoleServices): Promise<readonly (readonly [string, string])[]> => {
  const clients = Map.groupBy(await services.clients(), ({ applicationId }) => applicationId);
  return [...clients].map(([id, own]) => [
    id,
    `${own.map(({ name }) => name).join(', ')} (${id.slice(0, 8)})`,
  ]);
};

const verifyForm = (visit: Visit, funds: readonly string[]): View => {
  const texts = AUDIT[visit.language];
  return html`<form
    ...${{
      'hx-post': '/audit/verify',
      'hx-encoding': 'multipart/form-data',
      'hx-target': '#verification',
      'hx-swap': 'innerHTML strip:true',
    }}
  >
    <div class="fields">
      <label>
        ${texts.fund} <input name="fund" list="funds" autocomplete="off" spellcheck="false" />
        <datalist id="funds">${funds.map((fund) => html`<option value=${fund}></option>`)}</datalist>
      </label>
      <label>${texts.anchorFile} <input type="file" name="anchor" accept=".jsonl,.json" /></label>
    </div>
    <p><button>${texts.start}</button></p>
  </form>`;
};

const anchorForm = (visit: Visit): View => {
  const texts = AUDIT[visit.language];
  return html`<section>
    <h2>${texts.anchor}</h2>
    <p>${texts.anchorIntro}</p>
    ${
      visit.readOnly
        ? html`<p><small>${texts.onlyReading}</small></p>`
        : html`<form method="post" action="/audit/anchor" class="actions">
            ${tokenField(visit)}
            <button class="secondary">${texts.sealNow}</button>
          </form>`
    }
  </section>`;
};

const explainForm = (visit: Visit, applications: readonly (readonly [string, string])[]): View => {
  const texts = AUDIT[visit.language];
  const explained = { 'hx-post': '/audit/explain', 'hx-target': '#explained', 'hx-swap': 'outerHTML' };
  return html`<section>
    <h2>${texts.explain}</h2>
    <form method="post" action="/audit/explain/json" ...${explained}>
      ${tokenField(visit)}
      <div class="fields">
        <label
          >${texts.code} <input name="code" required maxlength=${LONGEST_CODE} autocomplete="off"
        /></label>
        <label>
          ${texts.application}
          <select name="application">
            <option value="">${texts.theOnlyOne}</option>
            ${applications.map(([id, name]) => html`<option value=${id}>${name}</option>`)}
          </select>
        </label>
        <label>${texts.asOf} <input type="date" name="as_of" /></label>
        <label>${texts.knownAt} <input type="datetime-local" name="known_at" /></label>
      </div>
      <p><button>${texts.show}</button></p>
    </form>
    <div id="explained"></div>
  </section>`;
};

const whole = async (visit: Visit, services: ConsoleServices): Promise<Answer> => {
  const texts = AUDIT[visit.language];
  const [funds, applications] = await Promise.all([fundsOf(services), applicationsOf(services)]);
  return {
    kind: 'page',
    body: html`<h2>${texts.verify}</h2>
      <p>${texts.intro}</p>
      ${verifyForm(visit, funds)} ${verificationView(services.audit.verification.run, visit)}
      ${anchorForm(visit)} ${explainForm(visit, applications)}`,
  };
};

const shownRun = async (visit: Visit, { audit }: ConsoleServices): Promise<Answer> => ({
  kind: 'part',
  body: verificationView(audit.verification.run, visit),
});

const verify = async (visit: Visit, services: ConsoleServices): Promise<Answer> => {
  const { fields, bytes } = await readUpload(visit.request, LARGEST_ANCHOR, 'optional');
  const fund = (fields.get('fund') ?? '').trim().toLowerCase();
  if (fund !== '' && !(await services.reconciliation.knowsFund(fund))) throw problem(422, 'badFund');
  const { verification } = services.audit;
  const anchor = bytes.length === 0 ? undefined : bytes;
  if (!(await verification.start(fund === '' ? undefined : fund, anchor))) throw problem(409, 'busy');
  return shownRun(visit, services);
};

const cancel = async (_visit: Visit, { audit }: ConsoleServices): Promise<Answer> => {
  audit.verification.cancel();
  return { kind: 'redirect', to: '/audit' };
};

const file = (name: string, content: AsyncIterable<string>): Answer => ({
  kind: 'file',
  name,
  mediaType: 'application/json',
  content,
});

/** Down to the second, as a part of a file's name. */
const stamp = (iso: string): string => iso.slice(0, 19).replaceAll(':', '-');

const verifiedAnchor = async (_visit: Visit, services: ConsoleServices): Promise<Answer> => {
  const lines = services.audit.verification.anchor();
  return lines === undefined
    ? { kind: 'redirect', to: '/audit' }
    : file(`anchor-${stamp(services.now())}.jsonl`, lines);
};

async function* differenceLines({ audit }: ConsoleServices): AsyncGenerator<string> {
  for (const difference of audit.verification.run?.differences ?? []) yield `${JSON.stringify(difference)}\n`;
}

const requestIn = ({ fields }: Visit) => {
  const given = (name: string): string => (fields.get(name) ?? '').trim();
  const [code, application] = [given('code'), given('application')];
  const [asOf, knownAt] = [given('as_of'), given('known_at')];
  if (code === '' || code.length > LONGEST_CODE) throw problem(422, 'badCode');
  if (asOf !== '' && !isCalendarDate(asOf)) throw problem(422, 'badDay');
  const moment = knownAt === '' ? undefined : momentTyped(knownAt);
  if (knownAt !== '' && moment === undefined) throw problem(422, 'badMoment');
  return {
    code,
    ...(application !== '' && { applicationId: application }),
    ...(isCalendarDate(asOf) && { asOf }),
    ...(moment !== undefined && { knownAt: moment }),
  };
};

const explain = async (visit: Visit, { audit }: ConsoleServices): Promise<Answer> => {
  const texts = AUDIT[visit.language];
  const request = requestIn(visit);
  const text = await audit.explained(request, 'table');
  const { applicationId, code } = request as { readonly applicationId?: string; readonly code: string };
  return {
    kind: 'part',
    body: html`<div id="explained">
      <h3 id="report-title">${texts.report}</h3>
      ${applicationId !== undefined && html`<p><a href=${operationPath(applicationId, code)}>${code}</a></p>`}
      <form method="post" action="/audit/explain/json" class="actions">
        ${tokenField(visit)}
        ${[...visit.fields]
          .filter(([name]) => name !== 'form_token')
          .map(([name, value]) => html`<input type="hidden" name=${name} value=${value} />`)}
        <button class="secondary">${texts.download}</button>
      </form>
      <pre tabindex="0" role="region" aria-labelledby="report-title"><code>${text}</code></pre>
    </div>`,
  };
};

async function* one(text: string): AsyncGenerator<string> {
  yield text;
}

export const auditPage: Page = {
  path: '/audit',
  title: { 'pt-BR': 'Auditoria', en: 'Audit' },
  live: true,
  routes: [
    view('/audit', whole),
    view('/audit/verification', shownRun),
    upload('/audit/verify', verify),
    query('/audit/cancel', cancel),
    query('/audit/verified-anchor', verifiedAnchor),
    query('/audit/differences', async (_visit, services) =>
      file('differences.jsonl', differenceLines(services)),
    ),
    action('/audit/anchor', async (_visit, services) =>
      file(`anchor-${stamp(services.now())}.jsonl`, services.audit.sealed()),
    ),
    query('/audit/explain', explain),
    query('/audit/explain/json', async (visit, { audit }) =>
      file('operation.json', one(await audit.explained(requestIn(visit), 'json'))),
    ),
  ],
};
