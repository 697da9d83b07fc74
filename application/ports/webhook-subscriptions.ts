import type { WebhookEvent } from './delivery-queue.ts';

export type WebhookStatus = 'active' | 'paused';

export interface WebhookSubscription {
  readonly webhookId: string;
  readonly applicationId: string;
  readonly url: string;
  readonly events: readonly string[];
  /** null: every fund of the application */
  readonly fundIds: readonly string[] | null;
  readonly description: string | null;
  readonly status: WebhookStatus;
  readonly createdAt: string;
  /** Business time from which on events are sent to it. */
  readonly eventsFrom: string;
  readonly updatedAt: string;
  readonly lastSuccessAt: string | null;
  readonly lastFailureAt: string | null;
  /** Start of the present run of failures; null while deliveries succeed. */
  readonly failingSince: string | null;
}

export interface NewSubscription {
  readonly webhookId: string;
  readonly applicationId: string;
  readonly url: string;
  readonly events: readonly string[];
  readonly fundIds: readonly string[] | null;
  readonly description: string | null;
  /** Sealed; only the sender opens it. */
  readonly sealedSecret: string;
  readonly createdAt: string;
  /** Default: `createdAt`. */
  readonly eventsFrom?: string;
  /** Queued together with the subscription. */
  readonly ping?: WebhookEvent;
}

/** Only what is present changes. */
export interface SubscriptionChange {
  readonly url?: string;
  readonly events?: readonly string[];
  readonly fundIds?: readonly string[] | null;
  readonly description?: string | null;
  readonly status?: WebhookStatus;
  readonly sealedSecret?: string;
}

/** Subscriptions of all applications. Durable when a call resolves; a removed one is gone for every method at once. */
export interface WebhookSubscriptions {
  /** False, and nothing stored, when the application has `limit` of them already. */
  add(subscription: NewSubscription, limit: number): Promise<boolean>;
  find(applicationId: string, webhookId: string): Promise<WebhookSubscription | undefined>;
  /** Those of these applications, oldest first; never from a cache, so that one added a moment ago is in it. */
  ofApplications(applicationIds: readonly string[]): Promise<readonly WebhookSubscription[]>;
  /** `undefined` when there is none. A change that changes nothing is one all the same. */
  update(
    applicationId: string,
    webhookId: string,
    change: SubscriptionChange,
    at: string,
  ): Promise<WebhookSubscription | undefined>;
  /** False when there is none. What waits for it is cancelled. */
  remove(applicationId: string, webhookId: string, at: string): Promise<boolean>;
}

/** For the operator, who knows the webhook and not whose it is. */
export interface WebhookDirectory {
  /** `undefined` for one that was never there or was removed. */
  findAnywhere(webhookId: string): Promise<WebhookSubscription | undefined>;
}
