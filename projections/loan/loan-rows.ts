import type { LoanReceived, RenegotiationTerms } from '../../domain/loan/events.ts';
import type { PrivateText } from '../../domain/shared/private-text.ts';
import type { ProjectedEvent, TableWrite } from '../projection.ts';
import type { WaitingStatus } from '../../domain/loan/statuses.ts';
import type { DomainEvent } from '../../domain/domain-event.ts';

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

/** Raised with each change of what the same events give, in rows or in their columns: a start then builds a new generation. */
export const LOAN_VERSION = 7;

export type Place = Pick<ProjectedEvent, 'stream' | 'revision' | 'position' | 'recordedAt'>;

type Held<Value> = Value extends string ? string : Value extends number ? number : Value;
type RowOf<Made> = { readonly [Column in keyof Made]: Held<Made[Column]> };

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

export type Projected<Type extends DomainEvent['type']> = ProjectedEvent & {
  readonly event: Extract<DomainEvent, { type: Type }>;
};

/** Every event moves the version of its operation, also one that changes nothing else: readers wait for it. */
export const advance = ({ stream, revision, recordedAt }: Place, received = 0): TableWrite => ({
  op: 'update',
  table: 'progress',
  where: { stream },
  set: { updated_at: recordedAt, version: Number(revision) },
  add: { received_value: received },
});

export const changeLoan = ({ stream }: Pick<Place, 'stream'>, set: Partial<LoanRow>): TableWrite => ({
  op: 'update',
  table: 'loan',
  where: { stream },
  set,
});

const WAITING: Readonly<Record<WaitingStatus, true>> = {
  received: true,
  approved: true,
  term_signed: true,
  repurchase_pending: true,
};

const waitingSince = (status: string, at: string): string | null => (status in WAITING ? at : null);

export const enterStatus = ({ stream, revision }: Place, status: string, at: string): TableWrite => ({
  op: 'insert',
  table: 'status_history',
  rows: [{ stream, revision: Number(revision), status, at }],
});

/** The loan row and its history together, for events that only change the status. */
export const changeStatus = (
  place: Place,
  status: string,
  at: string,
  set: Partial<LoanRow> = {},
): readonly TableWrite[] => [
  changeLoan(place, { status, waiting_since: waitingSince(status, at), ...set }),
  advance(place),
  enterStatus(place, status, at),
];

/** What is pending in an operation that ends so can no longer fall due. */
export const freezeInstallments = ({ stream }: Pick<Place, 'stream'>): TableWrite => ({
  op: 'update',
  table: 'installment',
  where: { stream, status: 'pending' },
  set: { status: 'frozen' },
});

export const changeInstallment = (
  { stream }: ProjectedEvent,
  code: string,
  set: Partial<InstallmentRow>,
): TableWrite => ({
  op: 'update',
  table: 'installment',
  where: { stream, code },
  set,
});
