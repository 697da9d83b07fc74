import type { RenegotiationTerms } from '../../domain/loan/events.ts';
import type { PrivateText } from '../../domain/shared/private-text.ts';

/** A column's text for what may name a person: JSON of the plain text or of the sealed one. Empty once it was forgotten. */
export const privateColumn = (text: PrivateText): string =>
  JSON.stringify(typeof text === 'string' ? text : { sealed: text.sealed });

export const FORGOTTEN_COLUMN = '';

/** JSON text of the part that an operation took in a renegotiation. `completedAt` is null until the new operation is active. */
export const renegotiationText = (
  role: 'original' | 'new',
  { originalProposalCodes, newProposalCode, effectiveDate }: RenegotiationTerms,
  completedAt: string | null,
): string => JSON.stringify({ role, originalProposalCodes, newProposalCode, effectiveDate, completedAt });

/** The loan read model as it is read: amounts in integer cents, dates as ISO text. Shapes follow the table columns. */
export interface LoanRow {
  readonly application_id: string;
  readonly code: string;
  readonly stream: string;
  readonly fund_id: string;
  readonly status: string;
  readonly product_type: string;
  readonly acquisition_value: number;
  readonly number_of_installments: number;
  readonly date_issued: string;
  readonly daily_factor: string;
  readonly borrower: string;
  readonly received_at: string;
  readonly updated_at: string;
  readonly received_value: number;
  readonly rejection_reasons: string | null;
  /** JSON text; null until the fund paid. */
  readonly disbursement: string | null;
  /** JSON text of the repurchase, with its completion; null before there is one. */
  readonly repurchase: string | null;
  /** The remark of the repurchase: JSON text, plain or sealed; empty where there is none, or it was forgotten. */
  readonly reason_detail: string;
  /** JSON text; null for an operation that took part in none. */
  readonly renegotiation: string | null;
  /** Revision of the last event that is in this row. */
  readonly version: number;
}

export interface InstallmentRow {
  readonly code: string;
  readonly seq: number;
  readonly due_date: string;
  readonly face_value: number;
  readonly status: string | null;
  readonly settled_at: string | null;
  readonly settled_value: number | null;
  readonly payment_method: string | null;
  /** JSON text: the prepayment credits that it carries. */
  readonly credits: string;
}

export interface PrepaymentRow {
  readonly value: number;
  readonly date: string;
  /** JSON text: the codes of the installments that it paid off. */
  readonly settled_installments: string;
  readonly excess_value: number;
}

export interface DocumentRow {
  readonly document_id: string;
  readonly type: string;
  /** File name: JSON text, plain or sealed; empty once it was forgotten. */
  readonly value: string;
  readonly sha256: string;
  readonly size: number;
  readonly received_at: string;
}

export interface StatusRow {
  readonly status: string;
  readonly at: string;
}

export interface LoanView {
  readonly loan: LoanRow;
  readonly installments: readonly InstallmentRow[];
  readonly prepayments: readonly PrepaymentRow[];
  readonly documents: readonly DocumentRow[];
  readonly statusHistory: readonly StatusRow[];
}
