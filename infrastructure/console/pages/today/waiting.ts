import type { WaitingGroup } from '../../../../application/administrator/worklists.ts';
import { amount, count, span } from '../../format.ts';
import type { FundNames } from '../../../../domain/fund/names.ts';
import { fundView } from '../../funds.ts';
import { html } from '../../html.ts';
import type { View } from '../../html.ts';
import type { Language } from '../../language.ts';
import { liveWith } from '../../layout.ts';
import { withQuery } from '../../names.ts';
import { tableView } from '../../table.ts';
import { WORDS } from '../words.ts';
import { TODAY } from './texts.ts';

const worklistPath = ({ fundId, status }: WaitingGroup): string =>
  withQuery('/decisions', { fund: fundId, status });

/** What waits, by fund, each group with the way to its worklist. */
export const waitingView = (
  groups: readonly WaitingGroup[],
  names: FundNames,
  language: Language,
  now: string,
): View => {
  const [texts, words] = [TODAY[language], WORDS[language]];
  return html`
    <section id="waiting" aria-labelledby="waiting-title" ...${liveWith('/today/waiting')}>
      <h2 id="waiting-title">${texts.waiting}</h2>
      ${
        groups.length === 0
          ? html`<p>${texts.nothing}</p>`
          : tableView(
              { titledBy: 'waiting-title' },
              [
                [
                  words.waitsFor,
                  (group) => html`<a href=${worklistPath(group)}>${words.awaited[group.status]}</a>`,
                ],
                [texts.operations, ({ operations }) => count(operations), 'number'],
                [texts.longest, ({ oldestSince }) => span(oldestSince, now), 'number'],
                [words.acquisitionValue, ({ acquisitionValue }) => amount(acquisitionValue), 'number'],
                [words.fund, ({ fundId }) => fundView(fundId, names), 'code'],
              ],
              groups,
            )
      }
    </section>
  `;
};
