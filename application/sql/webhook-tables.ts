export interface WebhookSubscriptionTable {
  webhook_id: string;
  application_id: string;
  url: string;
  /** JSON array of names, or `["*"]`. */
  events: string;
  /** JSON array; null for every fund. */
  fund_ids: string | null;
  description: string | null;
  /** Removed ones stay until the clean-up has taken what belongs to them. */
  status: 'active' | 'paused' | 'removed';
  sealed_secret: string;
  created_at: string;
  /** By the business clock; null for what was made before the two clocks could differ. */
  events_from: string | null;
  /** Place in the log, or `start`; null for what was made before it was noted. */
  begins_at: string | null;
  /** Place in the log behind which the filter in `filter_held` was in force for certain; null before it is noted. */
  filter_from: string | null;
  /** Events and funds as they stand in their columns, a line each. */
  filter_held: string | null;
  updated_at: string;
  last_success_at: string | null;
  last_failure_at: string | null;
  failing_since: string | null;
}

/** The frozen bytes, once, however many get them. */
export interface WebhookEventTable {
  event_id: string;
  application_id: string;
  name: string;
  fund_id: string | null;
  code: string | null;
  sequence: number;
  occurred_at: string;
  body: string;
}

/** Its columns, as those who read it call them. */
export const EVENT_COLUMNS = [
  ...(['event_id as eventId', 'name', 'application_id as applicationId', 'fund_id as fundId'] as const),
  ...(['code', 'sequence', 'occurred_at as timestamp', 'body'] as const),
] as const;

export interface WebhookDeliveryTable {
  /** Time-ordered, so that it sorts as the deliveries were created. */
  delivery_id: string;
  webhook_id: string;
  event_id: string;
  /** The lane it waits in; null as soon as nothing more will be sent there. */
  waiting_lane: string | null;
  sequence: number;
  status: 'pending' | 'retrying' | 'delivered' | 'failed';
  /** Highest attempt number given out. */
  attempts: number;
  /** Attempts of the retry schedule used up; those asked for by hand do not count. */
  scheduled_attempts: number;
  created_at: string;
  /** Not null while it waits in a lane. */
  next_attempt_at: string | null;
  last_attempt_at: string | null;
  delivered_at: string | null;
  finished_at: string | null;
  last_response_status: number | null;
  last_error: string | null;
}

export interface WebhookAttemptTable {
  delivery_id: string;
  attempt: number;
  started_at: string;
  duration_ms: number;
  response_status: number | null;
  error: string | null;
  /** The first 2 KiB of the answer's body. */
  response_body: string | null;
}

/** Only lanes with work. What is leased is a lane, never a delivery. */
interface WebhookLaneTable {
  webhook_id: string;
  /** Code of the operation; a name with `/`, which no code has, for one ping or one redelivery. */
  lane: string;
  /** 0 while the head was never tried, 1 after that. */
  tier: number;
  /** When it may be leased: its head's due time, or the end of its lease. */
  ready_at: string;
  /** Empty unless leased. */
  token: string;
  /** Set for a redelivery: exactly this one, whatever its state, with this attempt number. */
  delivery_id: string | null;
  attempt: number | null;
}

/** Deliveries of a span of time that are sent once more. */
export interface WebhookRedeliveryTable {
  redelivery_id: string;
  webhook_id: string;
  application_id: string;
  status: 'running' | 'completed' | 'stopped' | 'cancelled';
  /** Which deliveries: `any` are those that were delivered or failed. */
  choice: 'failed' | 'any';
  /** Created at or after, and before. */
  since: string;
  until: string;
  queued: number;
  gone: number;
  delivered: number;
  failed: number;
  /** Attempts in a row that nobody answered. */
  silent: number;
  /** Grows with each step, so that of two processes one makes it. */
  version: number;
  /** Through this delivery they are selected; null once all are. */
  selected_to: string | null;
  /** No item is in a lane before it; null where none is left. */
  first_lane: string | null;
  created_at: string;
  completed_at: string | null;
}

/** What is still to be sent, or is being sent: it goes once the answer is known. */
export interface WebhookRedeliveryItemTable {
  redelivery_id: string;
  /** Its order: one after the other by `sequence`, beside what is in other lanes. */
  lane: string;
  sequence: number;
  delivery_id: string;
  event_id: string;
  /** The attempt that is queued; null before. */
  attempt: number | null;
}

/** Tables of webhooks, as Kysely sees them. */
export interface WebhookTables {
  webhook_subscription: WebhookSubscriptionTable;
  webhook_event: WebhookEventTable;
  webhook_delivery: WebhookDeliveryTable;
  webhook_attempt: WebhookAttemptTable;
  webhook_lane: WebhookLaneTable;
  webhook_redelivery: WebhookRedeliveryTable;
  webhook_redelivery_item: WebhookRedeliveryItemTable;
}
