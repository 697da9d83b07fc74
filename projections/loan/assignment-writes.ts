import type { LoanDocument, LoanReceived } from '../../domain/loan/events.ts';
import type { TableWrite } from '../projection.ts';
import {
  FORGOTTEN_COLUMN,
  installmentRow,
  loanRow,
  privateColumn,
  progressRow,
  renegotiationText,
  advance,
  changeLoan,
  changeStatus,
  enterStatus,
  freezeInstallments,
} from './loan-rows.ts';
import type { Place, Projected } from './loan-rows.ts';

export const newLoan = (place: Place, event: LoanReceived): readonly TableWrite[] => [
  { op: 'insert', table: 'loan', rows: [loanRow(place, event)] },
  { op: 'insert', table: 'progress', rows: [progressRow(place, event)] },
  {
    op: 'insert',
    table: 'installment',
    rows: event.installments.map((one, seq) => installmentRow(place, one, seq)),
  },
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
