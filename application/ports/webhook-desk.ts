import type { WebhookSubscription } from './webhook-subscriptions.ts';

export const ENDPOINT_CHOICES = ['all', 'failing', 'paused'] as const;
/** failing: its present run of attempts fails. */
export type EndpointChoice = (typeof ENDPOINT_CHOICES)[number];

export interface EndpointQuery {
  readonly choice: EndpointChoice;
  readonly limit: number;
  /** From the previous page. */
  readonly cursor?: string;
}

export interface EndpointPage {
  readonly endpoints: readonly WebhookSubscription[];
  readonly nextCursor: string | null;
}

/** An attempt to deliver, as far as it says how well its receiver does. */
export interface Outcome {
  /** When it started. */
  readonly at: string;
  readonly durationMs: number;
  /** null when no status line came back */
  readonly responseStatus: number | null;
  readonly succeeded: boolean;
}

export interface EndpointRecord {
  /** Attempts of its newest deliveries, newest first. */
  readonly outcomes: readonly Outcome[];
  /** Deliveries that wait for an attempt, and those that were given up; neither is counted beyond `COUNTED_AT_MOST`. */
  readonly waiting: number;
  readonly failed: number;
}

/** Counting more would cost more than it says. */
export const COUNTED_AT_MOST = 1_000;

/** Webhooks of all applications, as the fund's desk looks at them. Costs grow with what is shown, not with the history. */
export interface WebhookDesk {
  /** Those that fail first, then the oldest. @throws DomainError `invalid_query_parameter` for a cursor that it did not make */
  endpoints(query: EndpointQuery): Promise<EndpointPage>;
  /** In the order of the ids; of the newest `deliveries` of each. */
  records(webhookIds: readonly string[], deliveries: number): Promise<readonly EndpointRecord[]>;
}
