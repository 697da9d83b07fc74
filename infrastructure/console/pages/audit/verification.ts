import type { Difference } from '../../../../application/audit/difference.ts';
import { count, instant } from '../../format.ts';
import { fact, html } from '../../html.ts';
import type { View } from '../../html.ts';
import type { Language } from '../../language.ts';
import { liveWith, tokenField } from '../../layout.ts';
import type { Visit } from '../../page.ts';
import { MOST_SHOWN } from '../../verification.ts';
import type { VerificationRun } from '../../verification.ts';
import { AUDIT } from './texts.ts';

const facts = (run: VerificationRun, language: Language): View => {
  const texts = AUDIT[language];
  const { summary } = run;
  return html`<dl class="facts">
    ${fact(texts.begun, instant(run.begunAt))}
    ${run.endedAt !== undefined && fact(texts.ended, instant(run.endedAt))}
    ${fact(texts.ofFund, run.fundId ?? texts.all)}
    ${run.anchorOf !== undefined && fact(texts.compared, instant(run.anchorOf))}
    ${
      summary &&
      html`${fact(texts.events, count(summary.events))} ${fact(texts.streams, count(summary.streams))}
      ${fact(texts.publicEvents, count(summary.publicEvents))}
      ${fact(texts.sealed, count(summary.seals.sealed))}
      ${fact(texts.unsealed, count(summary.seals.unsealed))}`
    }
  </dl>`;
};

const row = ({ kind, stream, revision, what, expected, found }: Difference, language: Language): View => {
  const texts = AUDIT[language];
  return html`<tr>
    <td>${texts.kinds[kind]}</td>
    <td class="wide code">${stream === '' ? texts.log : stream}${revision !== null && ` @${revision}`}</td>
    <td class="code">${what}</td>
    <td class="wide">${expected}</td>
    <td class="wide">${found}</td>
  </tr>`;
};

const ROWS = 100;

const found = (run: VerificationRun, visit: Visit): View => {
  const { language } = visit;
  const texts = AUDIT[language];
  const { differences, counts } = run;
  if (differences.length === 0)
    return run.state === 'done' ? html`<p class="done">${texts.noDifference}</p>` : null;
  const all = [...counts.values()].reduce((sum, one) => sum + one, 0);
  return html`<h3 id="differences-title">${texts.differences}: ${count(all)}</h3>
    <p>${[...counts].map(([kind, many]) => `${texts.kinds[kind]}: ${count(many)}`).join(' · ')}</p>
    <div class="overflow-auto" tabindex="0" role="region" aria-labelledby="differences-title">
      <table class="dense">
        <thead>
          <tr>
            <th scope="col">${texts.kind}</th>
            <th scope="col">${texts.where}</th>
            <th scope="col">${texts.what}</th>
            <th scope="col">${texts.expected}</th>
            <th scope="col">${texts.found}</th>
          </tr>
        </thead>
        <tbody>
          ${differences.slice(0, ROWS).map((one) => row(one, language))}
        </tbody>
      </table>
    </div>
    ${all > MOST_SHOWN && html`<p><small>${texts.shownFirst}</small></p>`}
    <form method="post" action="/audit/differences" class="actions">
      ${tokenField(visit)}
      <button class="secondary">${texts.exportFound}</button>
    </form>`;
};

const progress = (run: VerificationRun, visit: Visit): View => {
  const texts = AUDIT[visit.language];
  const done = Math.min(run.events, run.expected);
  return html`<label>
      ${texts.progress}: ${count(run.events)} / ${count(Math.max(run.expected, run.events))}
      <progress max=${Math.max(run.expected, 1)} value=${done}></progress>
    </label>
    <form method="post" action="/audit/cancel" class="actions">
      ${tokenField(visit)}
      <button class="secondary">${texts.cancel}</button>
    </form>`;
};

const LIVE = liveWith('/audit/verification');

/** The end may come before the stream of changes has seen the beginning, so what is under way asks once more by itself. */
const asksAgain = html`<span
  hidden
  ...${{ ...LIVE, 'hx-trigger': 'load delay:1s', 'hx-target': '#verification' }}
></span>`;

/** What is under way, or how the last one ended. */
export const verificationView = (run: VerificationRun | undefined, visit: Visit): View => {
  const texts = AUDIT[visit.language];
  return html`<section id="verification" ...${LIVE}>
    ${
      run === undefined
        ? html`<p><small>${texts.none}</small></p>`
        : html`<p role="status">
              <strong>${texts.states[run.state]}</strong>${run.reason !== undefined && `: ${run.reason}`}
            </p>
            ${run.state === 'running' && html`${progress(run, visit)}${asksAgain}`}
            ${facts(run, visit.language)} ${found(run, visit)}
            ${
              run.summary?.differences === 0 &&
              html`<form method="post" action="/audit/verified-anchor" class="actions">
                ${tokenField(visit)}
                <button class="secondary">${texts.anchorOfRun}</button>
              </form>`
            }`
    }
  </section>`;
};
