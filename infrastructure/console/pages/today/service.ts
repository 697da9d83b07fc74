import type { WebhookSubscription } from '../../../../application/webhooks/subscriptions.ts';
import { endpointState } from '../../../../application/webhooks/endpoint-health.ts';
import { count, instant, span } from '../../format.ts';
import { html } from '../../html.ts';
import type { View } from '../../html.ts';
import type { Language } from '../../language.ts';
import { liveWith } from '../../layout.ts';
import type { Lag } from '../../../../application/maintenance/service-status.ts';
import { tableView } from '../../table.ts';
import { WORDS } from '../words.ts';
import { TODAY } from './texts.ts';

/** Those that are paused and failed before are told of too. */
const isTroubled = (endpoint: WebhookSubscription, now: string): boolean =>
  endpoint.failingSince !== null || endpointState(endpoint, now) === 'unsteady';

/** Endpoints that failed within the last hour, the longest first. @param now by the real clock, as deliveries are */
export const endpointsView = (
  endpoints: readonly WebhookSubscription[],
  language: Language,
  now: string,
): View => {
  const [texts, words] = [TODAY[language], WORDS[language]];
  const failing = endpoints
    .filter((endpoint) => isTroubled(endpoint, now))
    .sort((a, b) => ((a.failingSince ?? now) < (b.failingSince ?? now) ? -1 : 1));
  return html`
    <section id="endpoints" aria-labelledby="endpoints-title" ...${liveWith('/today/endpoints')}>
      <h2 id="endpoints-title">${texts.endpoints}</h2>
      ${
        failing.length === 0
          ? html`<p>${texts.endpointsFine(endpoints.length)}</p>`
          : tableView(
              { titledBy: 'endpoints-title' },
              [
                [
                  texts.address,
                  ({ url, status }) => [url, status === 'paused' && html` <mark>${texts.paused}</mark>`],
                  'code',
                ],
                [
                  texts.failingFor,
                  ({ failingSince }) => (failingSince === null ? texts.unsteady : span(failingSince, now)),
                  'number',
                ],
                [
                  texts.lastSuccess,
                  ({ lastSuccessAt }) => (lastSuccessAt === null ? texts.never : instant(lastSuccessAt)),
                ],
                [words.application, ({ applicationId }) => applicationId, 'code'],
              ],
              failing,
            )
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
  { running, followers, deliveriesWaiting: { oldestSince } }: Lag,
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
      <p>${oldestSince === null ? texts.noDeliveryWaits : texts.deliveriesWait(span(oldestSince, now))}</p>
    </section>
  `;
};
