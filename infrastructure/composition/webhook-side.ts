import type { Webhooks } from '../../application/ports/webhooks.ts';
import type { WebhookWorker } from '../webhooks/webhook-worker.ts';

/** The webhook part of the service: what requests manage, and what sends beside them. */
export interface WebhookSide {
  readonly management: Webhooks;
  readonly worker: WebhookWorker;
}
