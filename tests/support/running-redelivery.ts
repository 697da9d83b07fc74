import { randomUUID } from 'node:crypto';
import {
  Webhook,
  EXAMPLE_REDELIVERY_ID,
  EXAMPLE_WEBHOOK_ID,
} from '../../infrastructure/http/resources/subscriptions.ts';
import type { ApiClient } from './api-client.ts';
import type { RunningService } from './running-service.ts';

/** The answer to a redelivery that is asked for while one runs, with the ids of the examples. */
export const refusedBesideAnother = async (
  { service }: RunningService,
  api: ApiClient,
): Promise<ReturnType<typeof JSON.parse>> => {
  const { url, events } = Webhook.example;
  const { webhook_id } = (await api.call('POST', '/webhook', { url, events })).body;
  const { webhooks } = service.parts;
  const { applicationId } = (await webhooks.subscriptions.find('operator', webhook_id))!;
  const span = { since: '2026-01-15T12:00:00.000Z', until: '2026-01-15T18:00:00.000Z' };
  for (;;) {
    const redeliveryId = randomUUID();
    const named = { redeliveryId, webhookId: webhook_id, applicationId };
    await webhooks.ranges.begin({ ...named, ...span, choice: 'failed', createdAt: span.until });
    const { status, body } = await api.call('POST', `/webhook/${webhook_id}/redeliver`, span);
    // It selects nothing, so the service may have ended it before this.
    if (status === 202) continue;
    const told = JSON.stringify(body).replaceAll(webhook_id, EXAMPLE_WEBHOOK_ID);
    return JSON.parse(told.replaceAll(redeliveryId, EXAMPLE_REDELIVERY_ID));
  }
};
