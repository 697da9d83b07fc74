import type { WebhookSubscription } from '../../../../application/ports/webhook-subscriptions.ts';
import { count, instant, span } from '../../format.ts';
import { html } from '../../html.ts';
import type { View } from '../../html.ts';
import type { Language } from '../../language.ts';
import { liveWith } from '../../layout.ts';
import type { Lag } from '../../services.ts';
import { WORDS } from '../words.ts';
import { TODAY } from './texts.ts';

const endpointRow = (endpoint: WebhookSubscription, language: Language, now: string): View => {
  const texts = TODAY[language];
  const { url, status, applicationId, failingSince, lastSuccessAt } = endpoint;
  return html`<tr>
    <td class="code">${url}${status === 'paused' && html` <mark>${texts.paused}</mark>`}</td>
    <td class="number">${failingSince !== null && span(failingSince, now)}</td>
    <td>${lastSuccessAt === null ? texts.never : instant(lastSuccessAt)}</td>
    <td class="code">${applicationId}</td>
  </tr>`;
};

/** Endpoints whose last deliveries failed, the longest first. @param now by the real clock, as deliveries are */
export const endpointsView = (
  endpoints: readonly WebhookSubscription[],
  language: Language,
  now: string,
): View => {
  const [texts, words] = [TODAY[language], WORDS[language]];
  const failing = endpoints
    .filter(({ failingSince }) => failingSince !== null)
    .sort((a, b) => (a.failingSince! < b.failingSince! ? -1 : 1));
  return html`
    <section id="endpoints" aria-labelledby="endpoints-title" ...${liveWith('/today/endpoints')}>
      <h2 id="endpoints-title">${texts.endpoints}</h2>
      ${
        failing.length === 0
          ? html`<p>${texts.endpointsFine(endpoints.length)}</p>`
          : html`<div class="overflow-auto" tabindex="0" role="region" aria-labelledby="endpoints-title">
              <table>
                <thead>
                  <tr>
                    <th scope="col">${texts.address}</th>
                    <th scope="col" class="number">${texts.failingFor}</th>
                    <th scope="col">${texts.lastSuccess}</th>
                    <th scope="col">${words.application}</th>
                  </tr>
                </thead>
                <tbody>
                  ${failing.map((endpoint) => endpointRow(endpoint, language, now))}
                </tbody>
              </table>
            </div>`
      }
    </section>
  `;
};

/** Whether a service runs, what is published and how long a delivery has waited change without a change of what is shown elsewhere. */
const FOLLOWED = { ...liveWith('/today/lag'), 'hx-trigger': 'load, changed from:#live, every 10s' };

/** Until it is known: looking for the service may take longer than a page should. */
export const lagAsked = (language: Language): View => html`
  <section id="lag" aria-labelledby="lag-title" ...${FOLLOWED}>
    <h2 id="lag-title">${TODAY[language].lag}</h2>
    <p>${TODAY[language].loading}</p>
  </section>
`;

export const lagView = (
  { running, followers, oldestDelivery }: Lag,
  language: Language,
  now: string,
): View => {
  const texts = TODAY[language];
  const late = followers.filter(({ behind, atLeast }) => behind > 0 || atLeast);
  return html`
    <section id="lag" aria-labelledby="lag-title" ...${FOLLOWED}>
      <h2 id="lag-title">${texts.lag}</h2>
      <p class=${running ? undefined : 'problem'}>${running ? texts.running : texts.notRunning}</p>
      ${
        late.length === 0
          ? html`<p>${texts.caughtUp}</p>`
          : html`<ul>
              ${late.map(
                ({ name, behind, atLeast }) =>
                  html`<li>
                    ${texts.behind(name, atLeast ? texts.atLeast(count(behind)) : count(behind))}
                  </li>`,
              )}
            </ul>`
      }
      <p>
        ${oldestDelivery === null ? texts.noDeliveryWaits : texts.deliveriesWait(span(oldestDelivery, now))}
      </p>
    </section>
  `;
};
