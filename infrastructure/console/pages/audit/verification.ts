import type { Difference } from '../../../../application/audit/difference.ts';
import { count, instant } from '../../format.ts';
import type { FundNames } from '../../../../domain/fund/names.ts';
import { fundView } from '../../funds.ts';
import { facts, html, tableView } from '../../html.ts';
import type { View } from '../../html.ts';
import { buttonForm } from '../../forms.ts';
import { liveWith } from '../../layout.ts';
import type { Visit } from '../../page.ts';
import { MOST_SHOWN } from '../../../../application/audit/verification.ts';
import type { VerificationRun } from '../../../../application/audit/verification.ts';
import { words } from '../words.ts';
import { texts } from './texts.ts';

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

export const verificationView = (run: VerificationRun | undefined, names: FundNames, visit: Visit): View =>
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
