import type { Desk } from '../../../../application/desk-view/desk.ts';
import { may } from '../../../../application/desk/rights.ts';
import {
  COUNTED_AT_MOST,
  ENDPOINT_CHOICES,
  countedFrom,
  endpointState,
  healthOf,
} from '../../../../application/webhooks/webhook-desk.ts';
import type { EndpointChoice, EndpointRecord } from '../../../../application/webhooks/webhook-desk.ts';
import type { WebhookSubscription } from '../../../../application/webhooks/subscriptions.ts';
import { badge, empty, html, tableView } from '../../html.ts';
import type { View } from '../../html.ts';
import { count, duration, instantOr, percent, span } from '../../format.ts';
import { liveWith } from '../../layout.ts';
import { withQuery } from '../../paths.ts';
import type { Visit } from '../../page.ts';
import { words } from '../words.ts';
import { texts } from './texts.ts';

const AT_ONCE = 20;
export const MEASURED = 100;

/** Whether the person may send to all that an endpoint is of; the use case has the last word. */
export const mayReach = ({ fundIds }: WebhookSubscription, visit: Visit): boolean =>
  fundIds === null ? may(visit, 'resend') : fundIds.every((fundId) => may(visit, 'resend', fundId));

export const pathOf = ({ webhookId }: Pick<WebhookSubscription, 'webhookId'>): string =>
  `/webhooks/${encodeURIComponent(webhookId)}`;

export const deliveryPath = (webhook: Pick<WebhookSubscription, 'webhookId'>, eventId: string): string =>
  `${pathOf(webhook)}/events/${encodeURIComponent(eventId)}`;

export const boundedCount = (value: number): string =>
  value < COUNTED_AT_MOST ? count(value) : `${count(COUNTED_AT_MOST)}+`;

export const timeTaken = (milliseconds: number | null): string =>
  milliseconds === null ? '–' : duration(milliseconds);

export const stateBadge = (endpoint: WebhookSubscription, now: string): View => {
  switch (endpointState(endpoint, now)) {
    case 'paused':
      return badge('quiet', texts.paused);
    case 'active':
      return badge('good', texts.active);
    case 'unsteady':
      return badge('warn', texts.unsteady);
    case 'failing':
      return badge('bad', `${texts.failing} ${span(endpoint.failingSince ?? endpoint.lastFailureAt!, now)}`);
  }
};

interface Listed {
  readonly endpoint: WebhookSubscription;
  readonly record: EndpointRecord;
  readonly owner: string;
}

const addressView = (endpoint: WebhookSubscription): View => [
  html`<a href=${pathOf(endpoint)} class="address">${endpoint.url}</a>`,
  endpoint.description !== null && html`<br /><small>${endpoint.description}</small>`,
];

export const choicesView = <Choice extends string | undefined>(
  label: string,
  { all, chosen }: { readonly all: readonly (readonly [Choice, string])[]; readonly chosen: Choice },
  to: (choice: Choice) => string,
): View =>
  html`<nav class="choices" aria-label=${label}>
    ${all.map(
      ([choice, name]) =>
        html`<a href=${to(choice)} aria-current=${choice === chosen ? 'true' : undefined}>${name}</a>`,
    )}
  </nav>`;

const choices = (chosen: EndpointChoice): View =>
  choicesView(
    texts.choice,
    { all: ENDPOINT_CHOICES.map((one) => [one, texts.choices[one]]), chosen },
    (choice) => withQuery('/webhooks', { show: choice === 'all' ? undefined : choice }),
  );

const table = (listed: readonly Listed[], now: string): View => {
  if (listed.length === 0) return empty(texts.noEndpoint, texts.endpointComes);
  const rows = listed.map((one) => ({ ...one, ...healthOf(one.record.outcomes) }));
  return html`${tableView(
      { titledBy: 'endpoints-title' },
      [
        [texts.endpoint, ({ endpoint }) => addressView(endpoint)],
        [words.application, ({ owner }) => owner],
        [texts.state, ({ endpoint }) => stateBadge(endpoint, now)],
        [texts.success, ({ successRate }) => (successRate === null ? '–' : percent(successRate)), 'number'],
        [texts.median, ({ medianMs }) => timeTaken(medianMs), 'number'],
        [texts.p95, ({ p95Ms }) => timeTaken(p95Ms), 'number'],
        [texts.waiting, ({ record }) => boundedCount(record.waiting), 'number'],
        [texts.gaveUp, ({ record }) => boundedCount(record.failed), 'number'],
        [texts.lastSuccess, ({ endpoint }) => instantOr(words.never, endpoint.lastSuccessAt), 'date'],
      ],
      rows,
    )}
    <p><small>${texts.measured(MEASURED)}</small></p>`;
};

export const endpointsView = async ({ query, realClock }: Visit, app: Desk): Promise<View> => {
  const { webhooks } = app;
  const cursor = query.get('after') ?? undefined;
  const choice = ENDPOINT_CHOICES.find((one) => one === query.get('show')) ?? 'all';
  const page = await webhooks.desk.endpoints({
    ...{ choice, limit: AT_ONCE, failedFrom: countedFrom(realClock.realNow()) },
    ...(cursor && { cursor }),
  });
  const ids = page.endpoints.map(({ webhookId }) => webhookId);
  const [records, names] = await Promise.all([
    webhooks.desk.records(ids, MEASURED),
    app.clients.applicationNames(),
  ]);
  const listed = page.endpoints.map((endpoint, i) => ({
    endpoint,
    record: records[i]!,
    owner: names.get(endpoint.applicationId) ?? '',
  }));
  const show = choice === 'all' ? undefined : choice;
  return html`<section
    id="endpoints"
    aria-labelledby="endpoints-title"
    ...${liveWith(withQuery('/webhooks/list', { show, after: cursor }))}
  >
    <h2 id="endpoints-title">${texts.endpoints}</h2>
    ${choices(choice)} ${table(listed, realClock.realNow())}
    ${
      page.nextCursor !== null &&
      html`<p><a href=${withQuery('/webhooks', { show, after: page.nextCursor })}>${texts.more}</a></p>`
    }
  </section>`;
};
