import type { AttemptRecord, DeliveryPage, DeliveryRecord } from '../../../application/ports/delivery-log.ts';
import type { WebhookSubscription } from '../../../application/ports/webhook-subscriptions.ts';
import type {
  CreatedWebhook,
  EventReport,
  RedeliveryReceipt,
  RotatedSecret,
} from '../../../application/ports/webhooks.ts';

export const presentCreatedWebhook = ({ webhook, signingSecret }: CreatedWebhook): object => ({
  webhook_id: webhook.webhookId,
  url: webhook.url,
  events: webhook.events,
  fund_ids: webhook.fundIds,
  description: webhook.description,
  signing_secret: signingSecret,
  status: webhook.status,
  created_at: webhook.createdAt,
});

export const presentWebhook = (webhook: WebhookSubscription): object => ({
  webhook_id: webhook.webhookId,
  url: webhook.url,
  events: webhook.events,
  fund_ids: webhook.fundIds,
  description: webhook.description,
  status: webhook.status,
  created_at: webhook.createdAt,
  updated_at: webhook.updatedAt,
  last_success_at: webhook.lastSuccessAt,
  last_failure_at: webhook.lastFailureAt,
  failing_since: webhook.failingSince,
});

export const presentRotatedSecret = ({ webhookId, signingSecret, rotatedAt }: RotatedSecret): object => ({
  webhook_id: webhookId,
  signing_secret: signingSecret,
  rotated_at: rotatedAt,
});

export const presentRedelivery = ({ eventId, deliveries }: RedeliveryReceipt): object => ({
  event_id: eventId,
  deliveries: deliveries.map(({ webhookId, deliveryId, attempt }) => ({
    webhook_id: webhookId,
    delivery_id: deliveryId,
    attempt,
  })),
});

const attempt = (record: AttemptRecord): object => ({
  attempt: record.attempt,
  at: record.at,
  duration_ms: record.durationMs,
  response_status: record.responseStatus,
  error: record.error,
});

const delivery = (record: DeliveryRecord): object => ({
  delivery_id: record.deliveryId,
  event_id: record.eventId,
  event: record.event,
  originator_proposal_code: record.code,
  fund_id: record.fundId,
  status: record.status,
  attempts: record.attempts,
  created_at: record.createdAt,
  last_attempt_at: record.lastAttemptAt,
  next_attempt_at: record.nextAttemptAt,
  delivered_at: record.deliveredAt,
  last_response_status: record.lastResponseStatus,
  last_error: record.lastError,
  attempt_log: record.attemptLog.map(attempt),
});

export const presentDeliveries = ({ deliveries, nextCursor }: DeliveryPage): object => ({
  data: deliveries.map(delivery),
  next_cursor: nextCursor,
});

export const presentEvent = ({ eventId, event, body, deliveries }: EventReport): object => ({
  event_id: eventId,
  event,
  body,
  deliveries: deliveries.map((one) => ({
    webhook_id: one.webhookId,
    ...delivery(one),
    attempt_log: one.attemptLog.map((record) => ({
      ...attempt(record),
      response_body: record.responseBody,
    })),
  })),
});
