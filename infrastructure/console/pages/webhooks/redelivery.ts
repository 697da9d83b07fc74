import type { Desk } from '../../../../application/desk-view/desk.ts';
import type { RangeRedelivery } from '../../../../application/webhooks/queue/range-redeliveries.ts';
import type { WebhookSubscription } from '../../../../application/webhooks/subscriptions.ts';
import { badge, html, section } from '../../html.ts';
import type { Meaning, View } from '../../html.ts';
import { count, instant, momentTyped } from '../../format.ts';
import { tokenField, momentField } from '../../forms.ts';
import { withQuery } from '../../paths.ts';
import { ConsoleProblem } from '../../page.ts';
import type { ActionAnswer, Visit } from '../../page.ts';
import { mayReach, pathOf } from './endpoints.ts';
import { texts } from './texts.ts';

const LOOKS: Readonly<Record<RangeRedelivery['status'], Meaning>> = {
  running: 'waits',
  completed: 'good',
  stopped: 'bad',
  cancelled: 'quiet',
};

/** The begin of the second that was typed, or of the minute. */
const sinceOf = (text: string): string | undefined => {
  const typed = momentTyped(text);
  const hasSeconds = /:\d\d:\d\d$/.test(text.trim());
  return typed && (hasSeconds ? `${typed.slice(0, 20)}000Z` : `${typed.slice(0, 17)}00.000Z`);
};

export const redeliver = async ({ params, fields }: Visit, { webhooks }: Desk): Promise<ActionAnswer> => {
  const webhookId = params['webhook']!;
  const since = sinceOf(fields.get('since') ?? '');
  if (since === undefined) throw new ConsoleProblem(422, () => texts.badSince);
  const begun = await webhooks.redeliveries.start('operator', webhookId, { since });
  const logged = [{ action: 'configured', decision: 'send_webhook', count: begun.queued }] as const;
  return { kind: 'redirect', to: withQuery(pathOf({ webhookId }), { again: begun.redeliveryId }), logged };
};

export const redeliveryOf = async (
  { query }: Visit,
  { webhooks }: Desk,
  webhook: WebhookSubscription,
): Promise<RangeRedelivery | undefined> => {
  const asked = query.get('again');
  const found =
    asked === null ? undefined : await webhooks.redeliveries.find('operator', webhook.webhookId, asked);
  return found ?? webhooks.redeliveries.running(webhook.webhookId);
};

export const progressView = (one: RangeRedelivery): View => {
  const { status, since, queued, delivered, failed, gone } = one;
  const done = delivered + failed + gone;
  const counted = [
    texts.redelivered(count(delivered)),
    ...(failed > 0 ? [texts.failedAgain(count(failed))] : []),
    ...(gone > 0 ? [texts.goneMeanwhile(count(gone))] : []),
  ];
  return section(
    'again-title',
    html`${texts.againSince(instant(since))} ${badge(LOOKS[status], texts.rangeStates[status])}`,
    queued === 0
      ? html`<p role="status">${texts.nothingFailed}</p>`
      : html`<progress
            value=${String(done)}
            max=${String(queued)}
            aria-label=${texts.progressOf(count(done), count(queued))}
          ></progress>
          <p role="status">${texts.progressOf(count(done), count(queued))}: ${counted.join(', ')}.</p>`,
  );
};

export const mayRedeliver = (visit: Visit, webhook: WebhookSubscription): boolean =>
  !visit.readOnly && webhook.status !== 'paused' && mayReach(webhook, visit);

/** Beside what follows the deliveries, so that nothing is drawn anew while somebody types. */
export const redeliveryForm = async (visit: Visit, { webhooks }: Desk): Promise<View> => {
  const webhook = await webhooks.find('operator', visit.params['webhook']!);
  if (!mayRedeliver(visit, webhook)) return null;
  return html`<form id="again" method="post" action=${`${pathOf(webhook)}/redeliver`} class="actions">
    ${tokenField(visit)}
    ${momentField(texts.failedSince, { name: 'since', value: instant(webhook.failingSince ?? webhook.createdAt), required: true })}
    <button>${texts.sendAllAgain}</button>
    <small>${texts.sendAllHint}</small>
  </form>`;
};
