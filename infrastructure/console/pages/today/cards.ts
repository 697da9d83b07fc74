import type { AwaitingDecision } from '../../../../application/administrator/confirmations.ts';
import type { Overdue } from '../../../../application/administrator/overdue.ts';
import type { WaitingGroup } from '../../../../application/administrator/worklists.ts';
import type { FundNames } from '../../../../domain/fund/names.ts';
import { amount, count, daysText, instantOr, span } from '../../format.ts';
import { fundView } from '../../funds.ts';
import { empty, html, tile, tableView, badge } from '../../html.ts';
import type { View } from '../../html.ts';
import { operationLink, withQuery } from '../../paths.ts';
import { words } from '../words.ts';
import { texts } from './texts.ts';
import type { WebhookSubscription } from '../../../../application/webhooks/subscriptions.ts';
import { endpointState } from '../../../../application/webhooks/webhook-desk.ts';
import type { Health } from '../../../../application/maintenance/service-status.ts';
import { pathOf } from '../webhooks/endpoints.ts';

const worklistPath = ({ fundId, status }: WaitingGroup): string =>
  withQuery('/decisions', { fund: fundId, status });

export const sumOf = <One>(all: readonly One[], of: (one: One) => number): number =>
  all.reduce((sum, one) => sum + of(one), 0);

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
        [words.daysLate, daysText],
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
        [texts.lastSuccess, ({ lastSuccessAt }) => instantOr(words.never, lastSuccessAt), 'date'],
      ],
      failing.slice(0, MOST_LISTED),
    )}
  `;
};

export const serviceBody = (
  { running, followers, deliveriesWaiting: { oldestSince }, idleRoles, quarantined }: Health,
  now: string,
): View => {
  const late = followers.filter(({ behind, atLeast, problem }) => behind > 0 || (atLeast && !problem));
  const isWhole = quarantined === 0 && followers.every(({ problem }) => problem === undefined);
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
        ? isWhole && html`<p>${texts.caughtUp}</p>`
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
