/** Why a decision that two people make was refused: the desk's reasons, which no request of an integrator meets. */
export type DeskErrorCode =
  | 'own_decision'
  | 'decision_void'
  | 'decision_not_found'
  | 'already_awaiting'
  | 'confirmation_mismatch'
  | 'evidence_missing';

/** Why a command was refused. Codes are part of the interface: stable, never reused (the HTTP numbers live in infrastructure/http). */
export type DomainErrorCode =
  | DeskErrorCode
  | 'loan_not_found'
  | 'installment_not_found'
  | 'installment_already_closed'
  | 'operation_invalid_state'
  | 'invalid_date'
  | 'invalid_document_type'
  | 'validation_error'
  | 'idempotency_conflict'
  | 'proposal_code_already_used'
  | 'concurrent_modification'
  | 'fund_not_allowed'
  | 'missing_file'
  | 'unreferenced_file'
  | 'duplicate_file_name'
  | 'invalid_file'
  | 'payload_too_large'
  | 'invalid_webhook_url'
  | 'invalid_event'
  | 'immutable_field'
  | 'empty_update'
  | 'webhook_not_found'
  | 'webhook_invalid_state'
  | 'redelivery_running'
  | 'event_not_found'
  | 'document_not_found'
  | 'invalid_query_parameter'
  | 'invalid_request';

/** One broken field: its path in the request, a stable code, and what to do about it. */
export interface FieldViolation {
  readonly field: string;
  readonly code: string;
  readonly message: string;
}

export class DomainError extends Error {
  override readonly name = 'DomainError';
  readonly code: DomainErrorCode;
  readonly details: readonly FieldViolation[];

  constructor(code: DomainErrorCode, message: string, details: readonly FieldViolation[] = []) {
    super(message);
    this.code = code;
    this.details = details;
  }
}
