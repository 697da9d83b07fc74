import type { WaitingGroup } from '../../../../application/ports/desk.ts';
import { amount, count, span } from '../../format.ts';
import { html } from '../../html.ts';
import type { View } from '../../html.ts';
import type { Language } from '../../language.ts';
import { liveWith } from '../../layout.ts';
import { withQuery } from '../../names.ts';
import { WORDS } from '../words.ts';
import { TODAY } from './texts.ts';

const worklistPath = ({ fundId, status }: WaitingGroup): string =>
  withQuery('/decisions', { fund: fundId, status });

/** What waits, by fund, each group with the way to its worklist. */
export const waitingView = (groups: readonly WaitingGroup[], language: Language, now: string): View => {
  const [texts, words] = [TODAY[language], WORDS[language]];
  return html`
    <section id="waiting" aria-labelledby="waiting-title" ...${liveWith('/today/waiting')}>
      <h2 id="waiting-title">${texts.waiting}</h2>
      ${
        groups.length === 0
          ? html`<p>${texts.nothing}</p>`
          : html`<div class="overflow-auto" tabindex="0" role="region" aria-labelledby="waiting-title">
              <table>
                <thead>
                  <tr>
                    <th scope="col">${words.waitsFor}</th>
                    <th scope="col" class="number">${texts.operations}</th>
                    <th scope="col" class="number">${texts.longest}</th>
                    <th scope="col" class="number">${words.acquisitionValue}</th>
                    <th scope="col">${words.fund}</th>
                  </tr>
                </thead>
                <tbody>
                  ${groups.map(
                    (group) =>
                      html`<tr>
                        <td><a href=${worklistPath(group)}>${words.awaited[group.status]}</a></td>
                        <td class="number">${count(group.operations)}</td>
                        <td class="number">${span(group.oldestSince, now)}</td>
                        <td class="number">${amount(group.acquisitionValue)}</td>
                        <td class="code">${group.fundId}</td>
                      </tr>`,
                  )}
                </tbody>
              </table>
            </div>`
      }
    </section>
  `;
};
