import type { LoanReceived } from '../../domain/loan/events.ts';
import type { ProjectedEvent } from '../projection.ts';
import { renegotiationText } from './stored-texts.ts';

/** Raised with each change of what the same events give, in rows or in their columns: a start then builds a new generation. */
export const LOAN_VERSION = 7;

/** Where a change of an operation stands in its stream, and when it was recorded. */
export type Place = Pick<ProjectedEvent, 'stream' | 'revision' | 'position' | 'recordedAt'>;

/** What a column holds, whichever type of the domain it came from. */
type Held<Value> = Value extends string ? string : Value extends number ? number : Value;
type RowOf<Made> = { readonly [Column in keyof Made]: Held<Made[Column]> };

/** At first, in a column that may be empty. */
const NONE = null as string | null;

export const loanRow = ({ stream, position }: Place, event: LoanReceived) => ({
  id: position,
  stream,
  application_id: event.applicationId,
  code: event.code,
  fund_id: event.fundId,
  status: 'received',
  product_type: event.productType,
  acquisition_value: event.acquisitionValue,
  number_of_installments: event.installments.length,
  date_issued: event.dateIssued,
  daily_factor: event.pricing.dailyFactor,
  borrower: event.borrower,
  received_at: event.receivedAt,
  waiting_since: event.receivedAt as string | null,
  rejection_reasons: NONE,
  disbursement: NONE,
  repurchase: NONE,
  repurchase_completed_at: NONE,
  reason_detail: '',
  renegotiation: event.renegotiation ? renegotiationText('new', event.renegotiation, null) : null,
  active_date: NONE,
  active_at: NONE,
  active_recorded_at: NONE,
  left_date: NONE,
  left_at: NONE,
  left_recorded_at: NONE,
});
export type LoanRow = RowOf<ReturnType<typeof loanRow>>;

export const progressRow = ({ stream, revision, recordedAt }: Place, event: LoanReceived) => ({
  stream,
  application_id: event.applicationId,
  code: event.code,
  received_at: event.receivedAt,
  updated_at: recordedAt,
  version: Number(revision),
  received_value: 0,
});
export type ProgressRow = RowOf<ReturnType<typeof progressRow>>;

export const installmentRow = (
  { stream }: Place,
  { code, dueDate, faceValue }: LoanReceived['installments'][number],
  seq: number,
) => ({
  stream,
  code,
  seq,
  due_date: dueDate,
  face_value: faceValue,
  status: 'pending',
  settled_at: NONE,
  settled_value: null as number | null,
  payment_method: NONE,
  recorded_at: NONE,
});
export type InstallmentRow = RowOf<ReturnType<typeof installmentRow>>;
