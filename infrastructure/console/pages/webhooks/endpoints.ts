import { COUNTED_AT_MOST, ENDPOINT_CHOICES } from '../../../../application/ports/webhook-desk.ts';
import type { EndpointChoice, EndpointRecord } from '../../../../application/ports/webhook-desk.ts';
import type { WebhookSubscription } from '../../../../application/ports/webhook-subscriptions.ts';
import { healthOf } from '../../../../application/webhooks/endpoint-health.ts';
import { count, instant, percent, span } from '../../format.ts';
import { html } from '../../html.ts';
import type { View } from '../../html.ts';
import type { Language } from '../../language.ts';
import { liveWith } from '../../layout.ts';
import { withQuery } from '../../names.ts';
import type { Visit } from '../../page.ts';
import type { ConsoleServices } from '../../services.ts';
import { WEBHOOKS } from './texts.ts';

const AT_ONCE = 20;
/** Of which success and latency are told. */
export const MEASURED = 100;

const isChoice = (text: string | null): text is EndpointChoice =>
  (ENDPOINT_CHOICES as readonly (string | null)[]).includes(text);

export const pathOf = ({ webhookId }: Pick<WebhookSubscription, 'webhookId'>): string =>
  `/webhooks/${encodeURIComponent(webhookId)}`;

export const boundedCount = (value: number): string =>
  value < COUNTED_AT_MOST ? count(value) : `${count(COUNTED_AT_MOST)}+`;

export const milliseconds = (value: number | null, language: Language): string =>
  value === null ? '–' : `${count(value)} ${WEBHOOKS[language].ms}`;

export const stateBadge = (
  { status, failingSince }: WebhookSubscription,
  language: Language,
  now: string,
): View => {
  const texts = WEBHOOKS[language];
  if (status === 'paused') return html`<span class="badge quiet">${texts.paused}</span>`;
  return failingSince === null
    ? html`<span class="badge good">${texts.active}</span>`
    : html`<span class="badge bad">${texts.failing} ${span(failingSince, now)}</span>`;
};

interface Listed {
  readonly endpoint: WebhookSubscription;
  readonly record: EndpointRecord;
  /** Names of the clients of its application. */
  readonly owner: string;
}

const row = ({ endpoint, record, owner }: Listed, language: Language, now: string): View => {
  const texts = WEBHOOKS[language];
  const { successRate, medianMs, p95Ms } = healthOf(record.outcomes);
  return html`<tr>
    <td>
      <a href=${pathOf(endpoint)} class="address">${endpoint.url}</a>
      ${endpoint.description !== null && html`<br /><small>${endpoint.description}</small>`}
    </td>
    <td>${owner}</td>
    <td>${stateBadge(endpoint, language, now)}</td>
    <td class="number">${successRate === null ? '–' : percent(successRate)}</td>
    <td class="number">${milliseconds(medianMs, language)}</td>
    <td class="number">${milliseconds(p95Ms, language)}</td>
    <td class="number">${boundedCount(record.waiting)}</td>
    <td class="number">${boundedCount(record.failed)}</td>
    <td class="number">${endpoint.lastSuccessAt === null ? texts.never : instant(endpoint.lastSuccessAt)}</td>
  </tr>`;
};

const choices = (chosen: EndpointChoice, language: Language): View => {
  const texts = WEBHOOKS[language];
  return html`<nav class="choices" aria-label=${texts.choice}>
    ${ENDPOINT_CHOICES.map(
      (choice) =>
        html`<a
          href=${withQuery('/webhooks', { show: choice === 'all' ? undefined : choice })}
          aria-current=${choice === chosen ? 'true' : undefined}
          >${texts.choices[choice]}</a
        >`,
    )}
  </nav>`;
};

const table = (listed: readonly Listed[], language: Language, now: string): View => {
  const texts = WEBHOOKS[language];
  if (listed.length === 0) return html`<p>${texts.noEndpoint}</p>`;
  return html`<div class="overflow-auto" tabindex="0" role="region" aria-labelledby="endpoints-title">
      <table>
        <thead>
          <tr>
            <th scope="col">${texts.endpoint}</th>
            <th scope="col">${texts.application}</th>
            <th scope="col">${texts.state}</th>
            <th scope="col" class="number">${texts.success}</th>
            <th scope="col" class="number">${texts.median}</th>
            <th scope="col" class="number">${texts.p95}</th>
            <th scope="col" class="number">${texts.waiting}</th>
            <th scope="col" class="number">${texts.gaveUp}</th>
            <th scope="col" class="number">${texts.lastSuccess}</th>
          </tr>
        </thead>
        <tbody>
          ${listed.map((one) => row(one, language, now))}
        </tbody>
      </table>
    </div>
    <p><small>${texts.measured(MEASURED)}</small></p>`;
};

/** The endpoints that were asked for, a page of them. */
export const endpointsView = async ({ language, query }: Visit, services: ConsoleServices): Promise<View> => {
  const { webhooks } = services;
  const texts = WEBHOOKS[language];
  const [asked, cursor] = [query.get('show'), query.get('after') ?? undefined];
  const choice = isChoice(asked) ? asked : 'all';
  const page = await webhooks.desk.endpoints({ choice, limit: AT_ONCE, ...(cursor && { cursor }) });
  const ids = page.endpoints.map(({ webhookId }) => webhookId);
  const [records, known] = await Promise.all([webhooks.desk.records(ids, MEASURED), services.clients()]);
  const names = Map.groupBy(known, ({ applicationId }) => applicationId);
  const listed = page.endpoints.map((endpoint, i) => ({
    endpoint,
    record: records[i]!,
    owner: (names.get(endpoint.applicationId) ?? []).map(({ name }) => name).join(', '),
  }));
  const show = choice === 'all' ? undefined : choice;
  return html`<section
    id="endpoints"
    aria-labelledby="endpoints-title"
    ...${liveWith(withQuery('/webhooks/list', { show, after: cursor }))}
  >
    <h2 id="endpoints-title">${texts.endpoints}</h2>
    ${choices(choice, language)} ${table(listed, language, webhooks.now())}
    ${
      page.nextCursor !== null &&
      html`<p><a href=${withQuery('/webhooks', { show, after: page.nextCursor })}>${texts.more}</a></p>`
    }
  </section>`;
};
