import type { WaitingGroup } from '../../../../application/administrator/worklists.ts';
import { amount, count, span } from '../../format.ts';
import type { FundNames } from '../../../../domain/fund/names.ts';
import { fundView } from '../../funds.ts';
import { empty, html, tile } from '../../html.ts';
import type { View } from '../../html.ts';
import { withQuery } from '../../names.ts';
import { tableView } from '../../table.ts';
import { words } from '../words.ts';
import { texts } from './texts.ts';

const worklistPath = ({ fundId, status }: WaitingGroup): string =>
  withQuery('/decisions', { fund: fundId, status });

const sumOf = (groups: readonly WaitingGroup[], of: (group: WaitingGroup) => number): number =>
  groups.reduce((sum, group) => sum + of(group), 0);

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
