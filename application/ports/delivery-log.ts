export const DELIVERY_STATES = ['pending', 'retrying', 'delivered', 'failed'] as const;
/** pending: no attempt yet. retrying: failed so far. failed: every attempt of the schedule is used up. */
export type DeliveryState = (typeof DELIVERY_STATES)[number];

export interface AttemptRecord {
  /** 1 for the first. */
  readonly attempt: number;
  /** When it started. */
  readonly at: string;
  readonly durationMs: number;
  /** null when no status line came back */
  readonly responseStatus: number | null;
  /** null when it succeeded */
  readonly error: string | null;
}

export interface DeliveryRecord {
  readonly deliveryId: string;
  readonly eventId: string;
  readonly event: string;
  /** null for `webhook.ping`, as is the fund */
  readonly code: string | null;
  readonly fundId: string | null;
  readonly status: DeliveryState;
  readonly attempts: number;
  readonly createdAt: string;
  readonly lastAttemptAt: string | null;
  /** Not before this instant; null unless retrying. */
  readonly nextAttemptAt: string | null;
  readonly deliveredAt: string | null;
  readonly lastResponseStatus: number | null;
  readonly lastError: string | null;
  /** Oldest first. */
  readonly attemptLog: readonly AttemptRecord[];
}

export interface DeliveryQuery {
  readonly webhookId: string;
  readonly status?: DeliveryState;
  /** Of events of these funds alone; at least one. */
  readonly onlyFundIds?: readonly string[];
  /** Created at or after; ISO 8601 UTC with milliseconds. */
  readonly since?: string;
  readonly limit: number;
  /** From the previous page. */
  readonly cursor?: string;
}

export interface DeliveryPage {
  readonly deliveries: readonly DeliveryRecord[];
  readonly nextCursor: string | null;
}

/** The oldest delivery that still waits, per subscription that has one. */
export interface DeliveryLag {
  readonly webhookId: string;
  readonly oldestCreatedAt: string;
}

/** What is kept of an attempt, as long as its delivery. */
export interface EndedAttempt extends AttemptRecord {
  /** The first 2 KiB of what the receiver answered; null when it answered nothing. */
  readonly responseBody: string | null;
}

export interface EventDelivery extends DeliveryRecord {
  readonly webhookId: string;
  readonly attemptLog: readonly EndedAttempt[];
}

/** What became of deliveries. Costs grow with the page, not with the history. */
export interface DeliveryLog {
  /** Newest first. @throws DomainError `invalid_query_parameter` for a cursor that it did not make */
  list(query: DeliveryQuery): Promise<DeliveryPage>;
  /** Oldest first; of removed subscriptions none. An application has few subscriptions. */
  ofEvent(eventId: string): Promise<readonly EventDelivery[]>;
  /** The same of several events, at most a few hundred: oldest first. */
  ofEvents(eventIds: readonly string[]): Promise<readonly EventDelivery[]>;
  lag(): Promise<readonly DeliveryLag[]>;
}
