import type { KeyObject } from 'node:crypto';
import type { AttemptOutcome } from './attempt-outcome.ts';

export interface WebhookRequest {
  readonly url: string;
  readonly event: string;
  readonly eventId: string;
  readonly body: string;
  readonly attempt: number;
  readonly key: KeyObject;
}

/** Makes one attempt. Never throws: whatever happens is an outcome. */
export interface WebhookSender {
  /** @param timeoutMs for all of it: name, connection, TLS, headers and body */
  send(request: WebhookRequest, timeoutMs: number): Promise<AttemptOutcome>;
  /** Cuts off what is under way. */
  close(): void;
}
