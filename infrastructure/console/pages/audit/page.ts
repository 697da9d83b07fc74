import type { OperationPlace } from '../../../../application/command-handling/operation.ts';
import type { ShownOperation } from '../../../../application/audit/show-operation.ts';
import type { FundNames } from '../../../../domain/fund/names.ts';
import { html, facts, tableView } from '../../html.ts';
import type { View } from '../../html.ts';
import { operationPath } from '../../paths.ts';
import { stateView } from '../operation/header.ts';
import { linesView, scheduleView } from '../operation/schedule.ts';
import { texts as operation } from '../operation/texts.ts';
import { entryView, recordedView } from '../operation/timeline.ts';
import { words } from '../words.ts';
import { texts } from './texts.ts';
import type { Desk } from '../../../../application/desk-view/desk.ts';
import { may } from '../../../../application/desk/rights.ts';
import { printShown } from '../../../presenting/shown-operation.ts';
import { dayTyped, momentTyped, count, instant } from '../../format.ts';
import { fundField, fundNames, fundView } from '../../funds.ts';
import { buttonForm, tokenField, field, choiceField, dayField, momentField } from '../../forms.ts';
import { either } from '../../language.ts';
import { ConsoleProblem, action, part, query, textFile, typedOr, upload, view } from '../../page.ts';
import type { Answer, Page, Visit } from '../../page.ts';
import type { Difference } from '../../../../application/audit/difference.ts';
import { liveWith } from '../../layout.ts';
import { MOST_SHOWN } from '../../../../application/audit/verification.ts';
import type { VerificationRun } from '../../../../application/audit/verification.ts';

const factsOf = (run: VerificationRun, names: FundNames): View => {
  const { summary } = run;
  return facts([
    [texts.begun, instant(run.begunAt)],
    run.endedAt !== undefined && [texts.ended, instant(run.endedAt)],
    [words.fund, run.fundId === undefined ? texts.all : fundView(run.fundId, names)],
    run.anchorOf !== undefined && [texts.compared, instant(run.anchorOf)],
    summary && [texts.events, count(summary.events)],
    summary && [texts.streams, count(summary.streams)],
    summary && [texts.publicEvents, count(summary.publicEvents)],
    summary && [texts.sealed, count(summary.seals.sealed)],
    summary && [texts.unsealed, count(summary.seals.unsealed)],
  ]);
};

const whereOf = ({ stream, revision }: Difference, log: string): string =>
  `${stream === '' ? log : stream}${revision === null ? '' : ` @${revision}`}`;

const ROWS = 100;

const found = (run: VerificationRun, visit: Visit): View => {
  const { differences, counts } = run;
  if (differences.length === 0)
    return run.state === 'done' ? html`<p class="done">${texts.noDifference}</p>` : null;
  const all = [...counts.values()].reduce((sum, one) => sum + one, 0);
  return html`<h3 id="differences-title">${texts.differences}: ${count(all)}</h3>
    <p>${[...counts].map(([kind, many]) => `${texts.kinds[kind]}: ${count(many)}`).join(' · ')}</p>
    ${tableView(
      { titledBy: 'differences-title', dense: true },
      [
        [words.kind, ({ kind }) => texts.kinds[kind]],
        [texts.where, (one) => whereOf(one, texts.log), 'wide code'],
        [texts.what, ({ what }) => what, 'code'],
        [texts.expected, ({ expected }) => expected, 'wide'],
        [texts.found, (one) => one.found, 'wide'],
      ],
      differences.slice(0, ROWS),
    )}
    ${all > MOST_SHOWN && html`<p><small>${texts.shownFirst}</small></p>`}
    ${buttonForm(visit, '/audit/differences', texts.exportFound)}`;
};

const progress = (run: VerificationRun, visit: Visit): View => {
  const done = Math.min(run.events, run.expected);
  return html`<label>
      ${texts.progress}: ${count(run.events)} / ${count(Math.max(run.expected, run.events))}
      <progress max=${Math.max(run.expected, 1)} value=${done}></progress>
    </label>
    ${buttonForm(visit, '/audit/cancel', texts.cancel)}`;
};

const LIVE = liveWith('/audit/verification');

/** The end may come before the stream of changes has seen the beginning, so what is under way asks once more by itself. */
const asksAgain = html`<span
  hidden
  ...${{ ...LIVE, 'hx-trigger': 'load delay:1s', 'hx-target': '#verification' }}
></span>`;

const verificationView = (run: VerificationRun | undefined, names: FundNames, visit: Visit): View =>
  html`<section id="verification" ...${LIVE}>
    ${
      run === undefined
        ? html`<p><small>${texts.none}</small></p>`
        : html`<p role="status">
              <strong>${texts.states[run.state]}</strong>${run.reason !== undefined && `: ${run.reason}`}
            </p>
            ${run.state === 'running' && html`${progress(run, visit)}${asksAgain}`} ${factsOf(run, names)}
            ${found(run, visit)}
            ${
              run.summary?.differences === 0 && buttonForm(visit, '/audit/verified-anchor', texts.anchorOfRun)
            }`
    }
  </section>`;

/** What `audit show` prints, with the labels of the operation's page; the oldest event first, nothing left to be opened. */
const explainedView = (
  { applicationId, code, asOf }: Awaited<ReturnType<typeof requestIn>>,
  shown: ShownOperation,
  { clientNames, names }: { readonly clientNames: ReadonlyMap<string, string>; readonly names: FundNames },
): View => {
  const { state, brokenAt, payoff } = shown;
  const chain =
    brokenAt === undefined
      ? html`<p class="done">${texts.whole}</p>`
      : html`<p class="problem" role="alert">${operation.broken(brokenAt)}</p>`;
  return html`
    <h3><a href=${operationPath(applicationId, code)}>${words.operation} ${code}</a></h3>
    ${chain}
    ${
      'schedule' in state
        ? stateView({ applicationId, names, shown, details: undefined, asOf }, state)
        : html`<p class="problem">${operation.notYet}</p>`
    }
    ${scheduleView(state)} ${linesView(payoff)}
    <h3>${operation.timeline}</h3>
    <ol class="timeline">
      ${shown.events.map((one) => entryView(one, { clientNames }, recordedView(one)))}
    </ol>
  `;
};

const LARGEST_ANCHOR = 32 * 1_048_576;
const LONGEST_CODE = 100;

const problem = (
  status: number,
  of: 'busy' | 'badFund' | 'badCode' | 'badDay' | 'badMoment',
): ConsoleProblem => new ConsoleProblem(status, () => texts[of]);

const applicationsOf = async ({ clients }: Desk): Promise<readonly (readonly [string, string])[]> =>
  [...(await clients.applicationNames())].map(([id, name]) => [id, `${name} (${id.slice(0, 8)})`]);

const verifyForm = (known: Parameters<typeof fundField>[1]): View =>
  html`<form
    ...${{
      'hx-post': '/audit/verify',
      'hx-encoding': 'multipart/form-data',
      'hx-target': '#verification',
      'hx-swap': 'innerHTML strip:true',
    }}
  >
    <div class="fields">
      ${fundField(texts.fund, known)}
      ${field(texts.anchorFile, { type: 'file', name: 'anchor', accept: '.jsonl,.json' })}
    </div>
    <p><button>${texts.start}</button></p>
  </form>`;

const anchorForm = (visit: Visit): View =>
  html`<section>
    <h2>${texts.anchor}</h2>
    <p>${texts.anchorIntro}</p>
    ${
      visit.readOnly
        ? html`<p><small>${texts.onlyReading}</small></p>`
        : buttonForm(visit, '/audit/anchor', texts.sealNow)
    }
  </section>`;

const explainForm = (visit: Visit, applications: readonly (readonly [string, string])[]): View => {
  const explained = { 'hx-post': '/audit/explain', 'hx-target': '#explained', 'hx-swap': 'outerHTML' };
  return html`<section>
    <h2>${texts.explain}</h2>
    <form method="post" action="/audit/explain/json" ...${explained}>
      ${tokenField(visit)}
      <div class="fields">
        ${field(words.operationCode, { name: 'code', required: true, maxlength: LONGEST_CODE, autocomplete: 'off' })}
        ${choiceField(words.application, 'application', { options: [['', texts.theOnlyOne], ...applications], chosen: '' })}
        ${dayField(texts.asOf, { name: 'as_of' })} ${momentField(texts.knownAt, { name: 'known_at' })}
      </div>
      <p><button>${texts.show}</button></p>
    </form>
    <div id="explained"></div>
  </section>`;
};

const whole = async (visit: Visit, app: Desk): Promise<Answer> => {
  const [funds, names, applications] = await Promise.all([
    app.clients.funds(),
    fundNames(app, visit),
    applicationsOf(app),
  ]);
  return {
    kind: 'page',
    body: html`<h2>${texts.verify}</h2>
      <p>${texts.intro}</p>
      ${verifyForm({ funds, names })} ${verificationView(app.audit.background.run, names, visit)}
      ${may(visit, 'seal') && anchorForm(visit)} ${explainForm(visit, applications)}`,
  };
};

const shownRun = async (visit: Visit, app: Desk): Promise<View> =>
  verificationView(app.audit.background.run, await fundNames(app, visit), visit);

const verify = async (visit: Visit, app: Desk): Promise<Answer> => {
  const { fields, file: chosen } = visit;
  const fund = (fields.get('fund') ?? '').trim();
  const fundId = fund === '' ? undefined : await app.funds.find(fund);
  if (fund !== '' && fundId === undefined) throw problem(422, 'badFund');
  const { background: verification } = app.audit;
  const anchor = chosen === undefined || chosen.bytes.length === 0 ? undefined : chosen.bytes;
  if (!(await verification.start(fundId, anchor))) throw problem(409, 'busy');
  return { kind: 'part', body: await shownRun(visit, app) };
};

const cancel = async (_visit: Visit, { audit }: Desk): Promise<Answer> => {
  audit.background.cancel();
  return { kind: 'redirect', to: '/audit' };
};

const stamp = (iso: string): string => iso.slice(0, 19).replaceAll(':', '-');

const verifiedAnchor = async ({ clock }: Visit, app: Desk): Promise<Answer> => {
  const lines = app.audit.background.anchor();
  return lines === undefined
    ? { kind: 'redirect', to: '/audit' }
    : textFile(`anchor-${stamp(clock.now())}.jsonl`, lines);
};

async function* differenceLines({ audit }: Desk): AsyncGenerator<string> {
  for (const difference of audit.background.run?.differences ?? []) yield `${JSON.stringify(difference)}\n`;
}

const requestIn = async ({ fields }: Visit, { loans }: Desk) => {
  const given = (name: string): string => (fields.get(name) ?? '').trim();
  const [code, application] = [given('code'), given('application')];
  if (code === '' || code.length > LONGEST_CODE) throw problem(422, 'badCode');
  const asOf = typedOr(given('as_of'), dayTyped, () => problem(422, 'badDay'));
  const knownAt = typedOr(given('known_at'), momentTyped, () => problem(422, 'badMoment'));
  return {
    code,
    applicationId: application === '' ? await loans.applicationOf(code) : application,
    asOf,
    knownAt,
  };
};

const JSON_LINES = { format: 'json', colour: false } as const;

const placeOf = ({ applicationId, code }: OperationPlace): OperationPlace => ({ applicationId, code });

const explain = async (visit: Visit, app: Desk): Promise<Answer> => {
  const request = await requestIn(visit, app);
  const shown = await app.audit.show(request);
  const [clientNames, names] = await Promise.all([
    app.clients.namesOf(shown.events.map(({ recorded }) => recorded.metadata.actor)),
    fundNames(app, visit),
  ]);
  const typed = [...visit.fields].filter(([name]) => name !== 'form_token');
  return {
    kind: 'part',
    logged: [{ action: 'viewed', ...placeOf(request) }],
    body: html`<div id="explained">
      ${explainedView(request, shown, { clientNames, names })}
      ${buttonForm(visit, '/audit/explain/json', texts.download, typed)}
    </div>`,
  };
};

const explained = async (visit: Visit, app: Desk): Promise<Answer> => {
  const request = await requestIn(visit, app);
  const [shown, names] = await Promise.all([app.audit.show(request), fundNames(app, visit)]);
  const written = textFile('operation.json', printShown(shown, request, { ...JSON_LINES, names }));
  return { ...written, logged: [{ action: 'exported', ...placeOf(request) }] };
};

export const auditPage: Page = {
  path: '/audit',
  title: () => either('Auditoria', 'Audit'),
  needs: 'verify',
  live: true,
  routes: [
    view('/audit', whole),
    part('/audit/verification', shownRun),
    upload('/audit/verify', LARGEST_ANCHOR, verify),
    query('/audit/cancel', cancel),
    query('/audit/verified-anchor', verifiedAnchor),
    query('/audit/differences', async (_visit, app) => textFile('differences.jsonl', differenceLines(app))),
    action('/audit/anchor', async ({ clock }, { audit }) =>
      textFile(`anchor-${stamp(clock.now())}.jsonl`, (await audit.anchor()).lines),
    ),
    query('/audit/explain', explain),
    query('/audit/explain/json', explained),
  ],
};
