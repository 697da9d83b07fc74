import type { ReadModelTables } from './read-model-tables.ts';

/**
 * `building`: takes in the log; `switching`: is about to serve; `old`: served before, kept until it is dropped; `damaged`: so too, and it
 * cannot be read.
 */
export type GenerationState = 'building' | 'switching' | 'serving' | 'old' | 'damaged';

/** What the streams do not hold. Columns as every engine gives them: text, integers below 2^53, or null. */
interface ServiceTables {
  readonly schema_migration: { id: string; applied_at: string };

  readonly client: {
    client_id: string;
    application_id: string;
    name: string;
    secret_hash: string;
    rate_limit_multiplier: number;
    created_at: string;
    revoked_at: string | null;
    /** JSON lists; null: no limit. */
    scopes: string | null;
    only_fund_ids: string | null;
  };
  readonly application_fund: { application_id: string; fund_id: string };
  readonly wrapped_key: { name: string; wrapped: string; created_at: string };
  /** One row for each level of formats that was reached; none is the first level. */
  readonly stored_format: { level: number };
  readonly relay_quarantine: {
    stream: string;
    revision: number;
    event_type: string;
    reason: string;
    released: number;
  };
  readonly checkpoint: { name: string; position: string; updated_at: string };

  /** Generations of the read models, wherever their tables are; reads begin at the one that serves. */
  readonly read_model_generation: { number: number; state: GenerationState };

  /** `until_ms` by the engine's clock; 0 once it was given back. */
  readonly lease: { name: string; holder: string; token: number; until_ms: number };

  readonly rate_bucket: {
    key: string;
    /** As of `at_ms`, fractions included. */
    tokens: number;
    /** By the engine's clock. */
    at_ms: number;
    burst: number;
    per_minute: number;
    /** Of the last statement: how many tokens it wanted, and how many it got. */
    asked: number;
    granted: number;
  };

  /** At most one row: how far the business time of a sandbox is ahead of the real time. */
  readonly clock_offset: { id: string; offset_ms: number; moved_at: string };

  readonly consumer_offset: {
    consumer_group: string;
    topic: string;
    partition: number;
    next_offset: number;
    updated_at: string;
  };
  /** One row an operation; `event_ids` is a JSON list. */
  readonly consumer_mark: {
    consumer_group: string;
    operation: string;
    sequence: number;
    event_ids: string;
    /** What was handled of the operation; null in rows of before. */
    handled: string | null;
  };
  /** The number of partitions over which the operations of a topic are spread. */
  readonly consumer_topic: { topic: string; partitions: number; updated_at: string };

  /** A keyed digest of a borrower's document, and an operation of that borrower. */
  readonly borrower_operation: { digest: string; stream: string };

  /** Of a move into this database: what it is (`move`), and how far each part of it has come. */
  readonly move_progress: { name: string; value: string };

  readonly log_seal: {
    number: number;
    kind: string;
    log: string;
    through: string;
    events: number;
    total: number;
    digest: string;
    sealed_at: string;
    mac: string;
  };
  /** One row. */
  readonly log_seal_head: { id: number; number: number; mac: string; proof: string };

  readonly desk_session: {
    id: string;
    /** SHA-256 of the cookie. */
    cookie_hash: string;
    issuer: string;
    subject: string;
    name: string;
    /** JSON list. */
    grants: string;
    /** What the console was set to when it began: under other settings it is none. */
    configured: string;
    language: string | null;
    /** JSON, wrapped by the master key. */
    sealed_tokens: string;
    begun_at: string;
    last_at: string;
    idle_until: string;
    until_at: string;
    /** When the provider is to be asked again; null: never. */
    ask_at: string | null;
  };

  readonly webhook_subscription: {
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
  };

  /** The frozen bytes, once, however many get them. */
  readonly webhook_event: {
    event_id: string;
    application_id: string;
    name: string;
    fund_id: string | null;
    code: string | null;
    sequence: number;
    occurred_at: string;
    body: string;
  };

  readonly webhook_delivery: {
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
  };

  readonly webhook_attempt: {
    delivery_id: string;
    attempt: number;
    started_at: string;
    duration_ms: number;
    response_status: number | null;
    error: string | null;
    /** The first 2 KiB of the answer's body. */
    response_body: string | null;
  };

  /** Only lanes with work. What is leased is a lane, never a delivery. */
  readonly webhook_lane: {
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
  };

  /** Deliveries of a span of time that are sent once more. */
  readonly webhook_redelivery: {
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
  };

  /** What is still to be sent, or is being sent: it goes once the answer is known. */
  readonly webhook_redelivery_item: {
    redelivery_id: string;
    /** Its order: one after the other by `sequence`, beside what is in other lanes. */
    lane: string;
    sequence: number;
    delivery_id: string;
    event_id: string;
    /** The attempt that is queued; null before. */
    attempt: number | null;
  };
}

/** Columns of a frozen event, as those who read it call them. */
export const EVENT_COLUMNS = [
  ...(['event_id as eventId', 'name', 'application_id as applicationId', 'fund_id as fundId'] as const),
  ...(['code', 'sequence', 'occurred_at as timestamp', 'body'] as const),
] as const;

export type Schema = ServiceTables & ReadModelTables;
