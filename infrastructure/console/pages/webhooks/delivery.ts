import type { EndedAttempt, EventDelivery } from '../../../../application/ports/delivery-log.ts';
import type { WebhookSubscription } from '../../../../application/ports/webhook-subscriptions.ts';
import { DomainError } from '../../../../domain/shared/domain-error.ts';
import { count, instant } from '../../format.ts';
import { fact, html } from '../../html.ts';
import type { View } from '../../html.ts';
import type { Language } from '../../language.ts';
import { liveWith } from '../../layout.ts';
import { withQuery } from '../../names.ts';
import type { Visit } from '../../page.ts';
import type { ConsoleServices } from '../../services.ts';
import { answerText, deliveryBadge, operationLink, sendForm } from './endpoint.ts';
import { milliseconds, pathOf } from './endpoints.ts';
import { WEBHOOKS } from './texts.ts';

/** `JSON.parse` hands the text of each value to its reviver, which its declaration does not know yet. */
type Reading = (
  text: string,
  reviver: (key: string, value: unknown, at: { source?: string }) => unknown,
) => unknown;

/** JSON in lines, each number as it was written; other text as it is. */
export const inLines = (body: string): string => {
  try {
    const read = (JSON.parse as Reading)(body, (_, value, { source }) =>
      typeof value === 'number' && source !== undefined ? JSON.rawJSON(source) : value,
    );
    return JSON.stringify(read, null, 2);
  } catch {
    return body;
  }
};

/** Stays open, or closed, when the part is fetched again: what an attempt has received changes no more. */
const answered = ({ attempt, responseBody }: EndedAttempt, language: Language): View => {
  const texts = WEBHOOKS[language];
  if (responseBody === null) return '–';
  if (responseBody === '') return texts.emptyAnswer;
  return html`<details ...${{ id: `answer-${attempt}`, 'hx-preserve': 'true' }}>
    <summary>${texts.answerBody}</summary>
    <pre><code>${responseBody}</code></pre>
  </details>`;
};

const attemptRow = (one: EndedAttempt, language: Language): View => {
  const texts = WEBHOOKS[language];
  return html`<tr>
    <td class="number">${count(one.attempt)}</td>
    <td class="number">${instant(one.at)}</td>
    <td class="number">${milliseconds(one.durationMs, language)}</td>
    <td class="number">${one.responseStatus ?? texts.noAnswer}</td>
    <td>${one.error ?? texts.ok}</td>
    <td>${answered(one, language)}</td>
  </tr>`;
};

const attempts = (delivery: EventDelivery, language: Language): View => {
  const texts = WEBHOOKS[language];
  if (delivery.attemptLog.length === 0) return html`<p>${texts.noAttempt}</p>`;
  return html`<div class="overflow-auto" tabindex="0" role="region" aria-labelledby="attempts-title">
      <table>
        <thead>
          <tr>
            <th scope="col" class="number">#</th>
            <th scope="col" class="number">${texts.started}</th>
            <th scope="col" class="number">${texts.duration}</th>
            <th scope="col" class="number">${texts.answer}</th>
            <th scope="col">${texts.outcome}</th>
            <th scope="col">${texts.answerBody}</th>
          </tr>
        </thead>
        <tbody>
          ${delivery.attemptLog.map((one) => attemptRow(one, language))}
        </tbody>
      </table>
    </div>
    <p><small>${texts.answerCut}</small></p>`;
};

const facts = (webhook: WebhookSubscription, delivery: EventDelivery, language: Language): View => {
  const texts = WEBHOOKS[language];
  const at = (time: string | null): string => (time === null ? '–' : instant(time));
  const rows: readonly (readonly [string, View])[] = [
    [texts.state, deliveryBadge(delivery.status, language)],
    [texts.operation, operationLink(webhook, delivery.code)],
    [texts.created, at(delivery.createdAt)],
    [texts.attempts, count(delivery.attempts)],
    [texts.answer, answerText(delivery, language)],
    [texts.next, at(delivery.nextAttemptAt)],
    [texts.delivered, at(delivery.deliveredAt)],
  ];
  return html`<dl class="facts">${rows.map(([name, value]) => fact(name, value))}</dl>`;
};

const found = (deliveries: readonly EventDelivery[], webhook: WebhookSubscription): EventDelivery => {
  const own = deliveries.find(({ webhookId }) => webhookId === webhook.webhookId);
  if (own) return own;
  throw new DomainError('event_not_found', `the webhook ${webhook.webhookId} has no delivery of this event`);
};

/** One event at one endpoint: what was sent, and what came back. */
export const deliveryView = async (visit: Visit, { webhooks }: ConsoleServices): Promise<View> => {
  const { language, params, query, operator } = visit;
  const texts = WEBHOOKS[language];
  const eventId = params['event']!;
  const webhook = await webhooks.find(params['webhook']!);
  const { event, body, deliveries } = await webhooks.event(webhook.webhookId, eventId, operator);
  const delivery = found(deliveries, webhook);
  const path = `${pathOf(webhook)}/events/${encodeURIComponent(eventId)}`;
  const resend = { to: `${path}/resend`, label: texts.resend, hint: texts.resendHint };
  return html`<section
    id="delivery"
    ...${liveWith(withQuery(`${path}/live`, { resent: query.get('resent') ?? undefined }))}
  >
    <p><a href=${pathOf(webhook)}>← ${webhook.url}</a></p>
    ${query.has('resent') && html`<p class="done" role="status">${texts.resent}</p>`}
    <h2><span class="code">${event}</span></h2>
    ${facts(webhook, delivery, language)} ${sendForm(visit, webhook, resend)}
    <h2 id="attempts-title">${texts.attempts}</h2>
    ${attempts(delivery, language)}
    <h2 id="body-title">${texts.bodySent}</h2>
    <pre tabindex="0" role="region" aria-labelledby="body-title"><code>${inLines(body)}</code></pre>
    <p><small>${texts.signed}</small></p>
  </section>`;
};
