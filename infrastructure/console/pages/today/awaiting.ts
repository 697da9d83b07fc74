import type { AwaitingDecision } from '../../../../application/administrator/confirmations.ts';
import { amount, count, span } from '../../format.ts';
import { empty, html, tile } from '../../html.ts';
import type { View } from '../../html.ts';
import { texts } from './texts.ts';

/** What was decided and awaits a second person. @param asked whether a fund has a rule of two people */
export const awaitingBody = (all: readonly AwaitingDecision[], asked: boolean, now: string): View => {
  const [oldest] = all;
  if (oldest === undefined)
    return empty(texts.noneAwaits, asked ? texts.noneAwaitsHelp : html`<a href="/funds">${texts.noRule}</a>`);
  return html`<div class="tiles small">
    ${tile(texts.decisions, count(all.length))}
    ${tile(texts.value, amount(all.reduce((sum, { value }) => sum + (value ?? 0), 0)))}
    ${tile(texts.longest, span(oldest.since, now))}
  </div>`;
};
