import type { Desk } from '../../../../application/desk-view/desk.ts';
import { DELIVERY_STATES } from '../../../../application/webhooks/delivery-states.ts';
import type { DeliveryRecord } from '../../../../application/webhooks/delivery-log.ts';
import type { DeliveryState } from '../../../../application/webhooks/delivery-states.ts';
import type { EndpointRecord } from '../../../../application/webhooks/webhook-desk.ts';
import type { WaitingDelivery } from '../../../../application/webhooks/deliveries.ts';
import type { WebhookSubscription } from '../../../../application/webhooks/subscriptions.ts';
import { healthOf } from '../../../../application/webhooks/webhook-desk.ts';
import { badge, empty, facts, html, tile, pictureOf, tableView, section } from '../../html.ts';
import type { Meaning, View } from '../../html.ts';
import { count, instant, instantOr, percent, momentTyped } from '../../format.ts';
import type { FundNames } from '../../../../domain/fund/names.ts';
import { fundNames, fundsView } from '../../funds.ts';
import { liveWith } from '../../layout.ts';
import { tokenField, momentField } from '../../forms.ts';
import { operationLink, withQuery } from '../../paths.ts';
import type { Visit, ActionAnswer } from '../../page.ts';
import { words } from '../words.ts';
import {
  MEASURED,
  boundedCount,
  choicesView,
  deliveryPath,
  mayReach,
  pathOf,
  stateBadge,
  timeTaken,
} from './endpoints.ts';
import { texts } from './texts.ts';
import type { RangeRedelivery } from '../../../../application/webhooks/queue/range-redeliveries.ts';

const RANGE_LOOKS: Readonly<Record<RangeRedelivery['status'], Meaning>> = {
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

const LONGEST_MOMENT = 40;

export const redeliver = async ({ params, fields }: Visit, { webhooks }: Desk): Promise<ActionAnswer> => {
  const webhookId = params['webhook']!;
  const typed = (fields.get('since') ?? '').slice(0, LONGEST_MOMENT);
  const since = sinceOf(typed);
  if (since === undefined)
    return {
      kind: 'redirect',
      to: `${withQuery(pathOf({ webhookId }), { since: typed })}#again`,
      logged: [
        { action: 'refused', outcome: 'refused', reason: 'validation_error', decision: 'send_webhook' },
      ],
    };
  const begun = await webhooks.redeliveries.start('operator', webhookId, { since });
  const logged = [{ action: 'configured', decision: 'send_webhook', count: begun.queued }] as const;
  return { kind: 'redirect', to: withQuery(pathOf({ webhookId }), { again: begun.redeliveryId }), logged };
};

const redeliveryOf = async (
  { query }: Visit,
  { webhooks }: Desk,
  webhook: WebhookSubscription,
): Promise<RangeRedelivery | undefined> => {
  const asked = query.get('again');
  const found =
    asked === null ? undefined : await webhooks.redeliveries.find('operator', webhook.webhookId, asked);
  return found ?? webhooks.redeliveries.running(webhook.webhookId);
};

const progressView = (one: RangeRedelivery): View => {
  const { status, since, queued, delivered, failed, gone } = one;
  const done = delivered + failed + gone;
  const counted = [
    texts.redelivered(count(delivered)),
    ...(failed > 0 ? [texts.failedAgain(count(failed))] : []),
    ...(gone > 0 ? [texts.goneMeanwhile(count(gone))] : []),
  ];
  return section(
    'again-title',
    html`${texts.againSince(instant(since))} ${badge(RANGE_LOOKS[status], texts.rangeStates[status])}`,
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

const mayRedeliver = (visit: Visit, webhook: WebhookSubscription): boolean =>
  !visit.readOnly && webhook.status !== 'paused' && mayReach(webhook, visit);

/** Beside what follows the deliveries, so that nothing is drawn anew while somebody types. */
export const redeliveryForm = async (visit: Visit, { webhooks }: Desk): Promise<View> => {
  const webhook = await webhooks.find('operator', visit.params['webhook']!);
  if (!mayRedeliver(visit, webhook)) return null;
  const refused = visit.query.get('since');
  const said = refused !== null && { 'aria-invalid': 'true', 'aria-describedby': 'bad-since' };
  const value = refused ?? instant(webhook.failingSince ?? webhook.createdAt);
  return html`<form id="again" method="post" action=${`${pathOf(webhook)}/redeliver`} class="actions">
    ${tokenField(visit)} ${momentField(texts.failedSince, { name: 'since', value, required: true, ...said })}
    ${said && html`<small id="bad-since" class="problem" role="alert">${texts.badSince}</small>`}
    <button>${texts.sendAllAgain}</button>
    <small>${texts.sendAllHint}</small>
  </form>`;
};

const AT_ONCE = 50;

const LOOKS: Readonly<Record<DeliveryState, Meaning>> = {
  pending: 'waits',
  retrying: 'warn',
  delivered: 'good',
  failed: 'bad',
};

export const deliveryBadge = (state: DeliveryState): View => badge(LOOKS[state], texts.states[state]);

export const answerText = ({
  lastResponseStatus,
  attempts,
}: Pick<DeliveryRecord, 'lastResponseStatus' | 'attempts'>): string =>
  attempts === 0 ? '–' : (lastResponseStatus?.toString() ?? texts.noAnswer);

interface Sending {
  readonly to: string;
  readonly label: string;
  readonly hint: string;
  /** By the person's roles; the use case has the last word. */
  readonly allowed: boolean;
}

export const sendForm = (
  visit: Visit,
  webhook: WebhookSubscription,
  { to, label, hint, allowed }: Sending,
): View => {
  if (!allowed) return null;
  if (visit.readOnly) return html`<p><small>${texts.onlyReading}</small></p>`;
  if (webhook.status === 'paused') return html`<p><small>${texts.pausedHint}</small></p>`;
  return html`<form method="post" action=${to} class="actions">
    ${tokenField(visit)}
    <button>${label}</button>
    <small>${hint}</small>
  </form>`;
};

const factsOf = (webhook: WebhookSubscription, owner: string, funds: FundNames): View => {
  const { events, fundIds, description, createdAt, lastSuccessAt, lastFailureAt } = webhook;
  return facts([
    [texts.endpoint, webhook.url],
    [words.application, owner],
    description !== null && [texts.description, description],
    [texts.events, events.includes('*') ? texts.allEvents : events.join(', ')],
    [texts.funds, fundIds === null ? texts.allFunds : fundsView(fundIds, funds)],
    [texts.created, instant(createdAt)],
    [texts.lastSuccess, instantOr(words.never, lastSuccessAt)],
    [texts.lastFailure, instantOr(words.never, lastFailureAt)],
  ]);
};

const tiles = (record: EndpointRecord): View => {
  const { successRate, medianMs, p95Ms } = healthOf(record.outcomes);
  return html`<div class="tiles small">
      ${tile(texts.success, successRate === null ? '–' : percent(successRate))}
      ${tile(texts.median, timeTaken(medianMs))} ${tile(texts.p95, timeTaken(p95Ms))}
      ${tile(texts.waiting, boundedCount(record.waiting))} ${tile(texts.gaveUp, boundedCount(record.failed))}
    </div>
    <p><small>${texts.measured(MEASURED)}</small></p>`;
};

const PICTURED = 60;

const picture = ({ outcomes }: EndpointRecord): View => {
  const shown = outcomes.slice(0, PICTURED).toReversed();
  if (shown.length === 0) return null;
  const valuesOf = (succeeded: boolean): readonly (number | null)[] =>
    shown.map((one) => (one.succeeded === succeeded ? one.durationMs : null));
  const failures = shown.filter((one) => !one.succeeded).length;
  return html`<h2>${texts.times}</h2>
    ${pictureOf(
      {
        stacked: true,
        unit: 'milliseconds',
        labels: shown.map(({ at }) => instant(at)),
        series: [
          { name: texts.succeeded, meaning: 'paid', values: valuesOf(true) },
          { name: texts.failed, meaning: 'overdue', values: valuesOf(false) },
        ],
      },
      texts.pictured(shown.length, failures),
    )}`;
};

export const linkOf = ({ applicationId }: WebhookSubscription, code: string | null): View =>
  operationLink({ applicationId, code }) ?? '–';

export const nextText = (
  webhook: WebhookSubscription,
  { nextAttemptAt, waitsFor }: WaitingDelivery,
): View => {
  if (waitsFor === null) return instantOr('–', nextAttemptAt);
  if (waitsFor.kind === 'webhook_resumed') return texts.untilResumed;
  const { eventId, event, triedAt } = waitsFor;
  return html`<a href=${deliveryPath(webhook, eventId)}>${texts.behind(event)}</a
    >${texts.triedAgain(instant(triedAt))}`;
};

const eventLink = (
  webhook: WebhookSubscription,
  { eventId, event, code }: DeliveryRecord,
  show: string,
): View =>
  html`<a href=${deliveryPath(webhook, eventId)} aria-label=${`${show}: ${event} ${code ?? ''}`}
    >${event}</a
  >`;

const stateChoices = (webhook: WebhookSubscription, chosen: DeliveryState | undefined): View => {
  const states = DELIVERY_STATES.map((state) => [state, texts.states[state]] as const);
  const to = (state: DeliveryState | undefined): string => withQuery(pathOf(webhook), { state });
  return choicesView(texts.state, { all: [[undefined, texts.anyState], ...states], chosen }, to);
};

const table = (webhook: WebhookSubscription, rows: readonly WaitingDelivery[]): View => {
  if (rows.length === 0) return empty(texts.noDelivery, texts.deliveryComes);
  return tableView(
    { titledBy: 'deliveries-title' },
    [
      [texts.created, ({ createdAt }) => instant(createdAt), 'date'],
      [words.event, (one) => eventLink(webhook, one, texts.show)],
      [words.operation, ({ code }) => linkOf(webhook, code)],
      [texts.state, ({ status }) => deliveryBadge(status)],
      [words.attempts, ({ attempts }) => count(attempts), 'number'],
      [texts.answer, (one) => answerText(one), 'number'],
      [texts.next, (one) => nextText(webhook, one), 'number'],
    ],
    rows,
  );
};

export const endpointView = async (visit: Visit, app: Desk): Promise<View> => {
  const { query, params } = visit;
  const { webhooks } = app;
  const webhook = await webhooks.find('operator', params['webhook']!);
  const { webhookId, applicationId } = webhook;
  const cursor = query.get('before') ?? undefined;
  const status = DELIVERY_STATES.find((one) => one === query.get('state'));
  const listing = { limit: AT_ONCE, ...(status && { status }), ...(cursor && { cursor }) };
  const [page, [record], applications, funds] = await Promise.all([
    webhooks.deliveries.page('operator', webhookId, listing),
    webhooks.desk.records([webhookId], MEASURED),
    app.clients.applicationNames(),
    fundNames(app, visit),
  ]);
  const again = await redeliveryOf(visit, app, webhook);
  const owner = applications.get(applicationId) ?? '';
  const path = pathOf(webhook);
  const ping = {
    to: `${path}/ping`,
    label: texts.ping,
    hint: texts.pingHint,
    allowed: mayReach(webhook, visit),
  };
  return html`<section
    id="endpoint"
    ...${liveWith(withQuery(`${path}/live`, { state: status, before: cursor, pinged: query.get('pinged') ?? undefined, again: query.get('again') ?? undefined }))}
  >
    <p><a href="/webhooks">← ${texts.back}</a></p>
    ${query.has('pinged') && html`<p class="done" role="status">${texts.pinged}</p>`}
    <p>${stateBadge(webhook, visit.realClock.realNow())}</p>
    ${factsOf(webhook, owner, funds)} ${tiles(record!)} ${sendForm(visit, webhook, ping)}
    ${mayRedeliver(visit, webhook) && html`<p><a href="#again">${texts.sendAllAgain}</a></p>`}
    ${again && progressView(again)} ${picture(record!)}
    <h2 id="deliveries-title">${texts.deliveries}</h2>
    ${stateChoices(webhook, status)}
    ${table(webhook, await webhooks.deliveries.waiting(webhook, page.deliveries))}
    <p class="pages">
      ${cursor !== undefined && html`<a href=${withQuery(path, { state: status })}>${texts.newest}</a>`}
      ${
        page.nextCursor !== null &&
        html`<a href=${withQuery(path, { state: status, before: page.nextCursor })}>${texts.older}</a>`
      }
    </p>
  </section>`;
};
