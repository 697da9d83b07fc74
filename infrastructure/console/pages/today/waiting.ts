import type { AwaitingDecision } from '../../../../application/administrator/confirmations.ts';
import type { Overdue, OverdueBand } from '../../../../application/administrator/overdue.ts';
import type { WaitingGroup } from '../../../../application/administrator/worklists.ts';
import type { FundNames } from '../../../../domain/fund/names.ts';
import { amount, count, span } from '../../format.ts';
import { fundView } from '../../funds.ts';
import { empty, html, tile } from '../../html.ts';
import type { View } from '../../html.ts';
import { operationLink, withQuery } from '../../names.ts';
import { tableView } from '../../table.ts';
import { words } from '../words.ts';
import { texts } from './texts.ts';

const worklistPath = ({ fundId, status }: WaitingGroup): string =>
  withQuery('/decisions', { fund: fundId, status });

export const sumOf = <One>(all: readonly One[], of: (one: One) => number): number =>
  all.reduce((sum, one) => sum + of(one), 0);

/** What waits: how many, how much, since when; and by fund, each group with the way to its worklist. */
export const waitingBody = (groups: readonly WaitingGroup[], names: FundNames, now: string): View => {
  const oldest = groups.map(({ oldestSince }) => oldestSince).toSorted()[0];
  if (oldest === undefined) return empty(texts.nothing, texts.nothingHelp);
  return html`
    <div class="tiles small">
      ${tile(texts.operations, count(sumOf(groups, ({ operations }) => operations)))}
      ${tile(words.acquisitionValue, amount(sumOf(groups, ({ acquisitionValue }) => acquisitionValue)))}
      ${tile(texts.longest, span(oldest, now))}
    </div>
    ${tableView(
      { label: texts.waiting },
      [
        [words.waitsFor, (group) => html`<a href=${worklistPath(group)}>${words.awaited[group.status]}</a>`],
        [texts.operations, ({ operations }) => count(operations), 'number'],
        [texts.longest, ({ oldestSince }) => span(oldestSince, now), 'number'],
        [words.acquisitionValue, ({ acquisitionValue }) => amount(acquisitionValue), 'number'],
        [words.fund, ({ fundId }) => fundView(fundId, names), 'code'],
      ],
      groups,
    )}
  `;
};

const daysOf = ({ from, to }: OverdueBand): string => (to === null ? `${from}+` : `${from}–${to}`);

/** How many operations are late, with what, for how long, and which of them for longest. */
export const overdueBody = ({ bands, worst }: Overdue, names: FundNames): View => {
  const [oldest] = worst;
  if (oldest === undefined) return empty(texts.noneOverdue, texts.noneOverdueHelp);
  return html`
    <div class="tiles small">
      ${tile(texts.operations, count(sumOf(bands, ({ operations }) => operations)))}
      ${tile(words.faceValue, amount(sumOf(bands, ({ faceValue }) => faceValue)))}
      ${tile(texts.oldest, texts.days(oldest.days))}
    </div>
    ${tableView(
      { label: texts.bands },
      [
        [words.daysLate, daysOf],
        [texts.operations, ({ operations }) => count(operations), 'number'],
        [words.installments, ({ installments }) => count(installments), 'number'],
        [words.faceValue, ({ faceValue }) => amount(faceValue), 'number'],
      ],
      bands,
    )}
    <h3 id="worst-title">${texts.worst}</h3>
    ${tableView(
      { titledBy: 'worst-title' },
      [
        [words.operation, operationLink],
        [words.daysLate, ({ days }) => count(days), 'number'],
        [words.installments, ({ installments }) => count(installments), 'number'],
        [words.faceValue, ({ faceValue }) => amount(faceValue), 'number'],
        [words.fund, ({ fundId }) => fundView(fundId, names), 'code'],
      ],
      worst,
    )}
  `;
};

/** What was decided and awaits a second person. @param asked whether a fund has a rule of two people */
export const awaitingBody = (all: readonly AwaitingDecision[], asked: boolean, now: string): View => {
  const [oldest] = all;
  if (oldest === undefined)
    return empty(texts.noneAwaits, asked ? texts.noneAwaitsHelp : html`<a href="/funds">${texts.noRule}</a>`);
  return html`<div class="tiles small">
    ${tile(texts.decisions, count(all.length))}
    ${tile(words.value, amount(sumOf(all, ({ value }) => value ?? 0)))}
    ${tile(texts.longest, span(oldest.since, now))}
  </div>`;
};
