import type { RequestContext } from './clients.ts';
import type { DeliveryPage, DeliveryState, EventDelivery } from './delivery-log.ts';
import type { Redelivery } from './delivery-queue.ts';
import type { WebhookSubscription } from './webhook-subscriptions.ts';

export interface CreateWebhookInput {
  readonly url: string;
  /** Names of the event catalogue, or `*` for all. */
  readonly events: readonly string[];
  /** Absent or null: every fund of the application, also one linked later. */
  readonly fundIds?: readonly string[] | null;
  readonly description?: string | null;
}

/** A change to a subscription: only what is present changes. */
export interface UpdateWebhookInput {
  readonly url?: string;
  readonly events?: readonly string[];
  readonly fundIds?: readonly string[] | null;
  readonly description?: string | null;
  /** Names of all other fields found in the request; any of them refuses it. */
  readonly otherFields?: readonly string[];
}

export interface ListDeliveriesInput {
  readonly status?: DeliveryState;
  /** Created at or after, RFC 3339. */
  readonly since?: string;
  readonly limit: number;
  readonly cursor?: string;
}

export interface CreatedWebhook {
  readonly webhook: WebhookSubscription;
  /** Shown here and never again. */
  readonly signingSecret: string;
}

export interface RotatedSecret {
  readonly webhookId: string;
  readonly signingSecret: string;
  readonly rotatedAt: string;
}

export interface RedeliveryReceipt {
  readonly eventId: string;
  readonly deliveries: readonly Redelivery[];
}

/** An event, and what became of it at each subscription. */
export interface EventReport {
  readonly eventId: string;
  readonly event: string;
  /** The frozen bytes as text. */
  readonly body: string;
  readonly deliveries: readonly EventDelivery[];
}

/**
 * Webhook subscriptions as their application manages them. Whatever belongs to another application does not exist. Every method
 * that names a webhook throws DomainError `webhook_not_found` when there is none.
 */
export interface Webhooks {
  /**
   * @throws DomainError `invalid_webhook_url` `invalid_event` `validation_error` `fund_not_allowed`, and
   *   `webhook_invalid_state` once the application has as many as it may have
   */
  create(context: RequestContext, input: CreateWebhookInput): Promise<CreatedWebhook>;
  /** Oldest first. */
  list(context: RequestContext): Promise<readonly WebhookSubscription[]>;
  /** @throws DomainError those of `create`, `immutable_field`, `empty_update` */
  update(context: RequestContext, webhookId: string, input: UpdateWebhookInput): Promise<WebhookSubscription>;
  /** Keeps queueing, sends nothing. Idempotent. */
  pause(context: RequestContext, webhookId: string): Promise<WebhookSubscription>;
  /** What queued meanwhile goes out, in order. Idempotent. */
  resume(context: RequestContext, webhookId: string): Promise<WebhookSubscription>;
  /** Every attempt that starts after this is signed with the new secret. */
  rotateSecret(context: RequestContext, webhookId: string): Promise<RotatedSecret>;
  /** What still waits is never sent. */
  remove(context: RequestContext, webhookId: string): Promise<void>;
  /** Newest first. @throws DomainError `invalid_query_parameter` for a broken `since` or `cursor` */
  deliveries(context: RequestContext, webhookId: string, query: ListDeliveriesInput): Promise<DeliveryPage>;
  /**
   * Sends the event once more, at once, to each matching subscription that is not paused.
   * @throws DomainError `event_not_found`, `webhook_invalid_state` when no subscription can get it
   */
  redeliver(context: RequestContext, eventId: string): Promise<RedeliveryReceipt>;
  /** Sends `webhook.ping` to this subscription, at once. @throws DomainError `webhook_invalid_state` when it is paused */
  ping(context: RequestContext, webhookId: string): Promise<RedeliveryReceipt>;
  /** @throws DomainError `event_not_found` */
  event(context: RequestContext, eventId: string): Promise<EventReport>;
}
