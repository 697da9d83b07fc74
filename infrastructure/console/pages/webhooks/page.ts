import type { Desk } from '../../../../application/desk-view/desk.ts';
import { html } from '../../html.ts';
import { withQuery } from '../../paths.ts';
import { action, part, view } from '../../page.ts';
import type { ActionAnswer, Page, Visit } from '../../page.ts';
import { deliveryView } from './delivery.ts';
import { endpointView } from './endpoint.ts';
import { deliveryPath, endpointsView, pathOf } from './endpoints.ts';
import { redeliver, redeliveryForm } from './redelivery.ts';
import { words } from '../words.ts';

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
