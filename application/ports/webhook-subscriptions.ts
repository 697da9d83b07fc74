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

/** Makes and seals signing secrets. `context` binds the sealed text to its owner: opened with another one, it fails. */
export interface Sealer {
  seal(text: string, context: string): string | Promise<string>;
  /** @throws Error when the text was sealed for another context or tampered with */
  open(sealed: string, context: string): string;
}

/** Random values; unpredictable. */
export interface RandomSource {
  /** UUID */
  id(): string;
  /** A fresh signing secret of at least 256 bits, printable. */
  secret(): string;
}

/** What a signing secret is sealed for. */
export const secretContext = (webhookId: string): string => `webhook-secret:${webhookId}`;

/** Decides which addresses webhooks may be sent to. Used at registration; the sender applies the same rules to every connection. */
export interface WebhookAddressGuard {
  /**
   * Takes an `https` address without user information and fragment whose host is not plainly unreachable from the public
   * internet. Judged by the text alone: what a name stands for is found out, and checked, at every sending.
   * @throws DomainError `invalid_webhook_url` saying what is wrong
   */
  check(url: string): void;
}
