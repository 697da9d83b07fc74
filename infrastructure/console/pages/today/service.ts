import type { WebhookSubscription } from '../../../../application/webhooks/subscriptions.ts';
import { endpointState } from '../../../../application/webhooks/endpoint-health.ts';
import type { Health } from '../../../../application/maintenance/service-status.ts';
import { badge } from '../../badge.ts';
import { count, instant, span } from '../../format.ts';
import { html } from '../../html.ts';
import type { View } from '../../html.ts';
import { tableView } from '../../table.ts';
import { pathOf } from '../webhooks/endpoints.ts';
import { words } from '../words.ts';
import { texts } from './texts.ts';

/** Those that are paused and failed before are told of too. */
const isTroubled = (endpoint: WebhookSubscription, now: string): boolean =>
  endpoint.failingSince !== null || endpointState(endpoint, now) === 'unsteady';

const MOST_LISTED = 5;

/** Endpoints that failed within the last hour, the longest first. @param now by the real clock, as deliveries are */
export const endpointsBody = (endpoints: readonly WebhookSubscription[], now: string): View => {
  const failing = endpoints
    .filter((endpoint) => isTroubled(endpoint, now))
    .sort((a, b) => ((a.failingSince ?? now) < (b.failingSince ?? now) ? -1 : 1));
  if (failing.length === 0) return html`<p>${texts.endpointsFine(endpoints.length)}</p>`;
  return html`
    <p class="problem">${texts.endpointsFail(failing.length, endpoints.length)}</p>
    ${tableView(
      { label: texts.endpoints },
      [
        [
          texts.address,
          (one) => [
            html`<a class="address" href=${pathOf(one)}>${one.url}</a>`,
            one.status === 'paused' && html` ${badge('quiet', texts.paused)}`,
          ],
        ],
        [
          texts.failingFor,
          ({ failingSince }) => (failingSince === null ? texts.unsteady : span(failingSince, now)),
          'number',
        ],
        [
          texts.lastSuccess,
          ({ lastSuccessAt }) => (lastSuccessAt === null ? words.never : instant(lastSuccessAt)),
          'date',
        ],
      ],
      failing.slice(0, MOST_LISTED),
    )}
  `;
};

/** Whether a service runs, how far what follows the log is behind it, and what waits for a person. */
export const serviceBody = (
  { running, followers, deliveriesWaiting: { oldestSince }, idleRoles, quarantined }: Health,
  now: string,
): View => {
  const late = followers.filter(({ behind, atLeast }) => behind > 0 || atLeast);
  const problems = [
    !running && texts.notRunning,
    ...idleRoles.map(texts.idle),
    ...followers.map(({ name, problem }) => problem !== undefined && texts.stuck(name, problem)),
    quarantined > 0 && texts.quarantined(count(quarantined)),
  ].filter((one) => one !== false);
  return html`
    ${problems.map((one) => html`<p class="problem">${one}</p>`)} ${running && html`<p>${texts.running}</p>`}
    ${
      late.length === 0
        ? html`<p>${texts.caughtUp}</p>`
        : html`<ul>
            ${late.map(
              ({ name, behind, atLeast }) =>
                html`<li>${texts.behind(name, atLeast ? texts.atLeast(count(behind)) : count(behind))}</li>`,
            )}
          </ul>`
    }
    <p>${oldestSince === null ? texts.noDeliveryWaits : texts.deliveriesWait(span(oldestSince, now))}</p>
  `;
};
