import type { Generated } from 'kysely';
import type { GenerationState } from '../../application/ports/read-models.ts';

/** Columns as every engine gives them: text, integers below 2^53, or null. */
export interface CoreTables {
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

  /** Generations of the read models, wherever their tables are; the one that serves is where whoever reads begins. */
  readonly read_model_generation: { number: number; state: GenerationState };

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
}
