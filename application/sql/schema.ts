import type { ReadModelTables } from './read-model-tables.ts';
import type { WebhookTables } from './webhook-tables.ts';

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
}

/** Every table of the SQL store, as Kysely sees it. */
export type Schema = ServiceTables & ReadModelTables & WebhookTables;
