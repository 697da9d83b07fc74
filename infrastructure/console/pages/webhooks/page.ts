import type { Desk } from '../../../../application/desk-view/desk.ts';
import { html, empty, facts, tableView } from '../../html.ts';
import { withQuery } from '../../paths.ts';
import { action, part, view } from '../../page.ts';
import type { ActionAnswer, Page, Visit } from '../../page.ts';
import {
  endpointView,
  answerText,
  deliveryBadge,
  linkOf,
  nextText,
  sendForm,
  redeliver,
  redeliveryForm,
} from './endpoint.ts';
import { deliveryPath, endpointsView, pathOf, timeTaken } from './endpoints.ts';
import { words } from '../words.ts';
import { may } from '../../../../application/desk/rights.ts';
import type { EndedAttempt, EventDelivery } from '../../../../application/webhooks/delivery-log.ts';
import type { WaitingDelivery } from '../../../../application/webhooks/deliveries.ts';
import type { WebhookSubscription } from '../../../../application/webhooks/subscriptions.ts';
import { DomainError } from '../../../../domain/shared/domain-error.ts';
import { count, instant, instantOr } from '../../format.ts';
import type { View } from '../../html.ts';
import { liveWith } from '../../layout.ts';
import { texts } from './texts.ts';

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
const answered = ({ attempt, responseBody }: EndedAttempt): View => {
  if (responseBody === null) return '–';
  if (responseBody === '') return texts.emptyAnswer;
  return html`<details ...${{ id: `answer-${attempt}`, 'hx-preserve': 'true' }}>
    <summary>${texts.answerBody}</summary>
    <pre><code>${responseBody}</code></pre>
  </details>`;
};

/** Which attempt was asked for on the page before, and when. */
const askedIn = (query: URLSearchParams) => {
  const [attempt, at] = [Number(query.get('attempt')), query.get('asked') ?? ''];
  return Number.isSafeInteger(attempt) && attempt > 0 && !Number.isNaN(Date.parse(at))
    ? { attempt, at }
    : undefined;
};

type Asked = ReturnType<typeof askedIn>;

/** Until the attempt is there. It asks by itself: nothing else tells of an attempt of what was delivered before. */
const askedRow = ({ attempt, at }: NonNullable<Asked>, live: string): View => {
  const asks = { ...liveWith(live), 'hx-trigger': 'every 2s', 'hx-target': '#delivery' };
  return html`<tr ...${asks}>
    <td class="number">${count(attempt)}</td>
    <td class="date">${instant(at)}</td>
    <td colspan="4"><span role="status">${texts.asked}</span></td>
  </tr>`;
};

const attempts = (delivery: EventDelivery, asked: Asked, live: string): View => {
  const awaited = delivery.attemptLog.every((one) => one.attempt !== asked?.attempt) ? asked : undefined;
  if (delivery.attemptLog.length === 0 && !awaited) return empty(texts.noAttempt);
  return html`${tableView(
      { titledBy: 'attempts-title', below: awaited && askedRow(awaited, live) },
      [
        ['#', ({ attempt }) => count(attempt), 'number'],
        [texts.started, ({ at }) => instant(at), 'date'],
        [texts.duration, ({ durationMs }) => timeTaken(durationMs), 'number'],
        [texts.answer, ({ responseStatus }) => responseStatus ?? texts.noAnswer, 'number'],
        [words.result, ({ error }) => error ?? texts.ok],
        [texts.answerBody, (one) => answered(one)],
      ],
      delivery.attemptLog,
    )}
    <p><small>${texts.answerCut}</small></p>`;
};

const factsOf = (webhook: WebhookSubscription, delivery: WaitingDelivery): View =>
  facts([
    [texts.state, deliveryBadge(delivery.status)],
    [words.operation, linkOf(webhook, delivery.code)],
    [texts.created, instant(delivery.createdAt)],
    [words.attempts, count(delivery.attempts)],
    [texts.answer, answerText(delivery)],
    [delivery.waitsFor ? texts.waitsFor : texts.next, nextText(webhook, delivery)],
    [texts.delivered, instantOr('–', delivery.deliveredAt)],
  ]);

const found = (deliveries: readonly EventDelivery[], webhook: WebhookSubscription): EventDelivery => {
  const own = deliveries.find(({ webhookId }) => webhookId === webhook.webhookId);
  if (own) return own;
  throw new DomainError('event_not_found', `the webhook ${webhook.webhookId} has no delivery of this event`);
};

export const deliveryView = async (visit: Visit, { webhooks }: Desk): Promise<View> => {
  const { params, query } = visit;
  const eventId = params['event']!;
  const webhook = await webhooks.find('operator', params['webhook']!);
  const { event, body, deliveries } = await webhooks.deliveries.event(webhook, eventId);
  const delivery = found(deliveries, webhook);
  const [waiting] = await webhooks.deliveries.waiting(webhook, [delivery]);
  const path = deliveryPath(webhook, eventId);
  const allowed = may(visit, 'resend', delivery.fundId ?? undefined);
  const resend = { to: `${path}/resend`, label: texts.resend, hint: texts.resendHint, allowed };
  const asked = askedIn(query);
  const live = withQuery(`${path}/live`, {
    attempt: asked?.attempt.toString(),
    asked: asked?.at,
  });
  return html`<section id="delivery" ...${liveWith(live)}>
    <p><a href=${pathOf(webhook)}>← ${webhook.url}</a></p>
    <h2><span class="code">${event}</span></h2>
    ${factsOf(webhook, waiting!)} ${sendForm(visit, webhook, resend)}
    <h2 id="attempts-title">${words.attempts}</h2>
    ${attempts(delivery, asked, live)}
    <h2 id="body-title">${texts.bodySent}</h2>
    <pre tabindex="0" role="region" aria-labelledby="body-title"><code>${inLines(body)}</code></pre>
    <p><small>${texts.signed}</small></p>
  </section>`;
};

const ping = async ({ params }: Visit, { webhooks }: Desk): Promise<ActionAnswer> => {
  const webhookId = params['webhook']!;
  await webhooks.deliveries.ping('operator', webhookId);
  const logged = [{ action: 'configured', decision: 'ping_webhook' }] as const;
  return { kind: 'redirect', to: `${pathOf({ webhookId })}?pinged=1`, logged };
};

const resend = async ({ params, realClock }: Visit, { webhooks }: Desk): Promise<ActionAnswer> => {
  const [webhookId, eventId] = [params['webhook']!, params['event']!];
  const asked = realClock.realNow();
  const attempt = await webhooks.deliveries.resend(webhookId, eventId);
  const path = deliveryPath({ webhookId }, eventId);
  const logged = [{ action: 'configured', decision: 'send_webhook' }] as const;
  return { kind: 'redirect', to: withQuery(path, { attempt: String(attempt), asked }), logged };
};

export const webhooksPage: Page = {
  path: '/webhooks',
  title: () => 'Webhooks',
  live: true,
  routes: [
    view('/webhooks', async (visit, app) => ({ kind: 'page', body: await endpointsView(visit, app) })),
    part('/webhooks/list', endpointsView),
    view('/webhooks/:webhook', async (visit, app) => ({
      kind: 'page',
      title: 'Webhook',
      ...(visit.query.has('since') && { status: 422 }),
      body: html`${await endpointView(visit, app)} ${await redeliveryForm(visit, app)}`,
    })),
    part('/webhooks/:webhook/live', endpointView),
    action('/webhooks/:webhook/ping', ping),
    action('/webhooks/:webhook/redeliver', redeliver),
    view('/webhooks/:webhook/events/:event', async (visit, app) => ({
      kind: 'page',
      title: words.delivery,
      body: await deliveryView(visit, app),
    })),
    part('/webhooks/:webhook/events/:event/live', deliveryView),
    action('/webhooks/:webhook/events/:event/resend', resend),
  ],
};
