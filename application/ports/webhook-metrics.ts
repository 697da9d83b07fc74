/** What operators watch. Calls are cheap and never fail. */
export interface WebhookMetrics {
  /** One attempt ended. `reason` is a short stable word such as `timeout`; absent when it was delivered. */
  attempt(attempt: {
    readonly outcome: 'delivered' | 'failed';
    readonly reason?: string;
    readonly first: boolean;
    readonly durationMs: number;
  }): void;
  /** From the creation of the delivery to its success, milliseconds. */
  delivered(latencyMs: number): void;
  /** A delivery used up its schedule. */
  exhausted(): void;
  queued(count: number): void;
  inFlight(count: number): void;
  breaker(state: 'opened' | 'closed'): void;
  leaseLost(): void;
}

const nothing = (): void => undefined;

export const NO_METRICS: WebhookMetrics = {
  attempt: nothing,
  delivered: nothing,
  exhausted: nothing,
  queued: nothing,
  inFlight: nothing,
  breaker: nothing,
  leaseLost: nothing,
};
