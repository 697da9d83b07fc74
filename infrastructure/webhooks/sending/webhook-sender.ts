import type { KeyObject } from 'node:crypto';
import type { Addresses } from '../addresses/name-resolver.ts';
import type { WebhookTarget } from '../addresses/webhook-url.ts';
import type { AttemptOutcome, FailedAttempt } from './attempt-outcome.ts';

export interface WebhookRequest {
  readonly event: string;
  readonly eventId: string;
  readonly body: string;
  readonly attempt: number;
  readonly key: KeyObject;
}

/** Where a request goes: addresses that were checked, and no other. */
export interface Route {
  readonly target: WebhookTarget;
  /** Undefined when the URL itself names the address. */
  readonly addresses: Addresses | undefined;
}

export type Located =
  { readonly kind: 'found'; readonly route: Route } | FailedAttempt | { readonly kind: 'abandoned' };

/** Makes attempts, each in two steps, so that what waits for a name server need not hold a place among those that send. Never throws. */
export interface WebhookSender {
  /** First step. Answers at once, without a promise, unless a name server has to be asked. */
  locate(url: string, applicationId: string, timeoutMs: number): Located | Promise<Located>;
  /** @param timeoutMs for all of it: connection, TLS, headers and body */
  send(request: WebhookRequest, route: Route, timeoutMs: number): Promise<AttemptOutcome>;
  /** Cuts off what is under way. */
  close(): void;
}
