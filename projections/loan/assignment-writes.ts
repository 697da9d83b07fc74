import type { LoanDocument, LoanReceived } from '../../domain/loan/events.ts';
import type { Row, TableWrite } from '../projection.ts';
import { FORGOTTEN_COLUMN, privateColumn, renegotiationText } from './stored-texts.ts';
import { advance, changeLoan, changeStatus, enterStatus, freezeInstallments } from './writes.ts';
import type { Place, Projected } from './writes.ts';

const loanRow = ({ stream, position }: Place, event: LoanReceived): Row => ({
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
  waiting_since: event.receivedAt,
  rejection_reasons: null,
  disbursement: null,
  repurchase: null,
  repurchase_completed_at: null,
  reason_detail: '',
  renegotiation: event.renegotiation ? renegotiationText('new', event.renegotiation, null) : null,
  active_date: null,
  active_at: null,
  active_recorded_at: null,
  left_date: null,
  left_at: null,
  left_recorded_at: null,
});

const progressRow = ({ stream, revision, recordedAt }: Place, event: LoanReceived): Row => ({
  stream,
  application_id: event.applicationId,
  code: event.code,
  received_at: event.receivedAt,
  updated_at: recordedAt,
  version: Number(revision),
  received_value: 0,
});

const installmentRows = (stream: string, event: LoanReceived): readonly Row[] =>
  event.installments.map(({ code, dueDate, faceValue }, seq) => ({
    stream,
    code,
    seq,
    due_date: dueDate,
    face_value: faceValue,
    status: 'pending',
    settled_at: null,
    settled_value: null,
    payment_method: null,
    recorded_at: null,
  }));

export const newLoan = (place: Place, event: LoanReceived): readonly TableWrite[] => [
  { op: 'insert', table: 'loan', rows: [loanRow(place, event)] },
  { op: 'insert', table: 'progress', rows: [progressRow(place, event)] },
  { op: 'insert', table: 'installment', rows: installmentRows(place.stream, event) },
  insertDocuments(place, event.documents),
  enterStatus(place, 'received', event.receivedAt),
];

/** One that a renegotiation brought in is there since its commit. */
export const received = (projected: Projected<'LoanReceived'>): readonly TableWrite[] =>
  projected.event.renegotiation ? [advance(projected)] : newLoan(projected, projected.event);

export const approved = (projected: Projected<'LoanApproved'>): readonly TableWrite[] =>
  changeStatus(projected, 'approved', projected.event.approvedAt);

export const rejected = (projected: Projected<'LoanRejected'>): readonly TableWrite[] => {
  const { reasons, rejectedAt } = projected.event;
  return [
    ...changeStatus(projected, 'rejected', rejectedAt, { rejection_reasons: JSON.stringify(reasons) }),
    freezeInstallments(projected),
  ];
};

export const termSigned = (projected: Projected<'LoanTermSigned'>): readonly TableWrite[] =>
  changeStatus(projected, 'term_signed', projected.event.signedAt);

/** Originals of a renegotiation leave in the same write in which their successor comes in: no day holds both, or neither. */
export const disbursed = (projected: Projected<'LoanDisbursed'>): readonly TableWrite[] => {
  const { recordedAt, applicationId } = projected;
  const { disbursedValue, disbursementDate, disbursedAt, renegotiation } = projected.event;
  const date = disbursementDate ?? null;
  const disbursement = JSON.stringify({ value: disbursedValue, date: disbursementDate, disbursedAt });
  const completed = renegotiation && { renegotiation: renegotiationText('new', renegotiation, disbursedAt) };
  return [
    ...changeStatus(projected, 'active', disbursedAt, {
      disbursement,
      ...completed,
      active_date: date,
      active_at: disbursedAt,
      active_recorded_at: recordedAt,
    }),
    ...(renegotiation?.originalProposalCodes ?? []).map((code): TableWrite => ({
      op: 'update',
      table: 'loan',
      where: { application_id: applicationId, code },
      set: { left_date: date, left_at: disbursedAt, left_recorded_at: recordedAt },
    })),
  ];
};

/** Nothing opens sealed texts any more, and plain ones of earlier versions are to be read no more: both go from the rows. */
export const borrowerForgotten = (projected: Projected<'BorrowerForgotten'>): readonly TableWrite[] => [
  changeLoan(projected, { borrower: '', reason_detail: FORGOTTEN_COLUMN }),
  advance(projected),
  {
    op: 'update',
    table: 'document',
    where: { stream: projected.stream },
    set: { value: FORGOTTEN_COLUMN },
  },
];

/** The documents that one event brought, in its order. */
const insertDocuments = ({ stream, revision }: Place, documents: readonly LoanDocument[]): TableWrite => ({
  op: 'insert',
  table: 'document',
  rows: documents.map(({ documentId, type, value, sha256, size, receivedAt }, seq) => ({
    stream,
    document_id: documentId,
    revision: Number(revision),
    seq,
    type,
    value: privateColumn(value),
    sha256,
    size,
    received_at: receivedAt,
  })),
});

export const documentsAdded = (projected: Projected<'DocumentsAdded'>): readonly TableWrite[] => [
  insertDocuments(projected, projected.event.documents),
  advance(projected),
];
