import type { Generated } from 'kysely';
import type { GenerationState } from '../../application/ports/read-models.ts';
import type {
  PortfolioFlowRow,
  PortfolioInstallmentRow,
  PortfolioOperationRow,
} from '../../projections/portfolio/portfolio-projection.ts';
import type { NotifiedPaymentRow } from '../../projections/reconciliation/reconciliation-projection.ts';
import type { WebhookTables } from './webhooks/schema.ts';

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
}

/** The tables of a generation of read models. */
interface ReadModelTables {
  /** In each generation; no row before the first batch. */
  readonly projection_checkpoint: {
    name: string;
    version: number;
    /** '' is the start of the log. */
    position: string;
    /** The generation that serves instead; from then on, nothing is written here. */
    successor: Generated<number | null>;
  };

  /** In each generation: what a projection could not take of an operation, and how many of its events wait by now. */
  readonly quarantined_operation: {
    projection: string;
    stream: string;
    /** Of the first event that waits. */
    revision: number;
    event_type: string;
    position: string;
    reason: string;
    waiting: number;
  };

  readonly loan: {
    stream: string;
    application_id: string;
    code: string;
    fund_id: string;
    status: string;
    product_type: string;
    acquisition_value: number;
    number_of_installments: number;
    date_issued: string;
    daily_factor: string;
    borrower: string;
    received_at: string;
    updated_at: string;
    /** When it came into a state that waits for the fund's administrator; null in any other. */
    waiting_since: string | null;
    received_value: number;
    rejection_reasons: string | null;
    disbursement: string | null;
    /** JSON of the request alone; readers join its completion. */
    repurchase: string | null;
    repurchase_completed_at: string | null;
    reason_detail: string;
    renegotiation: string | null;
    version: number;
  };
  readonly installment: {
    stream: string;
    code: string;
    seq: number;
    due_date: string;
    face_value: number;
    status: string | null;
    settled_at: string | null;
    settled_value: number | null;
    payment_method: string | null;
    /** 0 until the operation is active and again once it froze, so that no scheduler walks over what can no longer fall due. */
    payable: number;
  };
  /** What prepayments left on an installment, in the order of `revision`. */
  readonly installment_credit: {
    stream: string;
    installment_code: string;
    revision: number;
    value: string;
    date: string;
  };
  readonly prepayment: {
    stream: string;
    revision: number;
    value: number;
    date: string;
    settled_installments: string;
    excess_value: number;
  };
  readonly document: {
    stream: string;
    document_id: string;
    /** Of the event that brought it; `seq` is its place there. */
    revision: number;
    seq: number;
    type: string;
    value: string;
    sha256: string;
    size: number;
    received_at: string;
  };
  readonly status_history: { stream: string; revision: number; status: string; at: string };

  readonly reconciled_operation: { stream: string; application_id: string; code: string; fund_id: string };
  readonly notified_payment: NotifiedPaymentRow;
  readonly completed_repurchase: { stream: string; completed_at: string };

  readonly portfolio_operation: PortfolioOperationRow;
  readonly portfolio_installment: PortfolioInstallmentRow;
  readonly portfolio_credit: {
    stream: string;
    installment_code: string;
    /** Of the prepayment that left it. */
    revision: number;
    value: string;
    date: string;
    recorded_at: string;
  };
  readonly portfolio_flow: PortfolioFlowRow;

  readonly published_event: { stream: string; revision: number; event_id: string };
}

/** Every table of the SQL store, as Kysely sees it. */
export type Schema = ServiceTables & ReadModelTables & WebhookTables;

/** The primary key of every table of a read model, by which rows of two generations are matched. */
const READ_MODEL_KEYS = {
  loan: ['stream'],
  installment: ['stream', 'code'],
  installment_credit: ['stream', 'installment_code', 'revision'],
  prepayment: ['stream', 'revision'],
  document: ['stream', 'document_id'],
  status_history: ['stream', 'revision'],
  reconciled_operation: ['stream'],
  notified_payment: ['date', 'stream', 'revision'],
  completed_repurchase: ['stream'],
  portfolio_operation: ['stream'],
  portfolio_installment: ['stream', 'code'],
  portfolio_credit: ['stream', 'installment_code', 'revision'],
  portfolio_flow: ['stream', 'revision'],
  published_event: ['stream', 'revision'],
} as const satisfies Partial<Record<keyof Schema, readonly string[]>>;

export const READ_MODEL_NAMES: readonly string[] = Object.keys(READ_MODEL_KEYS);

/** The primary key of a table of a read model, in its order. @throws RangeError for any other table */
export const keyOf = (table: string): readonly string[] => {
  const key = (READ_MODEL_KEYS as Readonly<Record<string, readonly string[]>>)[table];
  if (key === undefined) throw new RangeError(`${table} is no table of a read model`);
  return key;
};
