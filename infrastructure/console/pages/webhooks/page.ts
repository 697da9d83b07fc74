import { action, view } from '../../page.ts';
import type { Answer, Page, Visit } from '../../page.ts';
import type { ConsoleServices } from '../../services.ts';
import { deliveryView } from './delivery.ts';
import { endpointView } from './endpoint.ts';
import { endpointsView, pathOf } from './endpoints.ts';
import { WEBHOOKS } from './texts.ts';

const ping = async ({ params, operator }: Visit, { webhooks }: ConsoleServices): Promise<Answer> => {
  const webhookId = params['webhook']!;
  await webhooks.ping(webhookId, operator);
  return { kind: 'redirect', to: `${pathOf({ webhookId })}?pinged=1` };
};

const resend = async ({ params }: Visit, { webhooks }: ConsoleServices): Promise<Answer> => {
  const [webhookId, eventId] = [params['webhook']!, params['event']!];
  await webhooks.resend(webhookId, eventId);
  return {
    kind: 'redirect',
    to: `${pathOf({ webhookId })}/events/${encodeURIComponent(eventId)}?resent=1`,
  };
};

/** Endpoints of every application; the deliveries of one; one delivery. */
export const webhooksPage: Page = {
  path: '/webhooks',
  title: { 'pt-BR': 'Webhooks', en: 'Webhooks' },
  live: true,
  routes: [
    view('/webhooks', async (visit, services) => ({
      kind: 'page',
      body: await endpointsView(visit, services),
    })),
    view('/webhooks/list', async (visit, services) => ({
      kind: 'part',
      body: await endpointsView(visit, services),
    })),
    view('/webhooks/:webhook', async (visit, services) => ({
      kind: 'page',
      title: 'Webhook',
      body: await endpointView(visit, services),
    })),
    view('/webhooks/:webhook/live', async (visit, services) => ({
      kind: 'part',
      body: await endpointView(visit, services),
    })),
    action('/webhooks/:webhook/ping', ping),
    view('/webhooks/:webhook/events/:event', async (visit, services) => ({
      kind: 'page',
      title: WEBHOOKS[visit.language].delivery,
      body: await deliveryView(visit, services),
    })),
    view('/webhooks/:webhook/events/:event/live', async (visit, services) => ({
      kind: 'part',
      body: await deliveryView(visit, services),
    })),
    action('/webhooks/:webhook/events/:event/resend', resend),
  ],
};
