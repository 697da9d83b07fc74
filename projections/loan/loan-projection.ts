import type { DomainEvent } from '../../domain/domain-event.ts';
import type { ProjectedEvent, Projection, TableWrite } from '../projection.ts';
import {
  approved,
  borrowerForgotten,
  disbursed,
  documentsAdded,
  received,
  rejected,
  termSigned,
} from './assignment-writes.ts';
import { LOAN_VERSION, advance } from './loan-rows.ts';
import type { Projected } from './loan-rows.ts';
import {
  becameOverdue,
  fullySettled,
  installmentSettled,
  prepaid,
  renegotiationCommitted,
  renegotiationCompleted,
  repurchaseCompleted,
  repurchaseRequested,
} from './payment-writes.ts';

type Writers = {
  readonly [Type in DomainEvent['type']]: (projected: Projected<Type>) => readonly TableWrite[];
};

const advanced = (projected: ProjectedEvent): readonly TableWrite[] => [advance(projected)];
const nothing = (): readonly TableWrite[] => [];

/** Of an event that goes out: it has its place in the feed, too. */
const told =
  <Event extends ProjectedEvent>(write: (projected: Event) => readonly TableWrite[]) =>
  (projected: Event): readonly TableWrite[] => {
    const { applicationId, stream, position, revision } = projected;
    const row = { stream, application_id: applicationId, position, revision: Number(revision) };
    return [...write(projected), { op: 'insert', table: 'feed', rows: [row] }];
  };

/** One entry an event, so that the compiler asks for a new one. */
const writers: Writers = {
  LoanReceived: told(received),
  LoanApproved: told(approved),
  LoanRejected: told(rejected),
  LoanTermSigned: told(termSigned),
  LoanDisbursed: told(disbursed),
  InstallmentSettled: told(installmentSettled),
  InstallmentUnderpaid: told(advanced),
  InstallmentBecameOverdue: becameOverdue,
  PrepaymentProcessed: told(prepaid),
  LoanFullySettled: told(fullySettled),
  RepurchaseRequested: told(repurchaseRequested),
  RepurchaseCompleted: told(repurchaseCompleted),
  DocumentsAdded: documentsAdded,
  BorrowerForgotten: borrowerForgotten,
  LoanReserved: advanced,
  LoanReservationReleased: advanced,
  LoanRenegotiated: advanced,
  LoanRenegotiationCompleted: told(renegotiationCompleted),
  RenegotiationStarted: nothing,
  RenegotiationCommitted: renegotiationCommitted,
  RenegotiationAborted: nothing,
  RenegotiationCompleted: nothing,
  FundNamed: nothing,
  DeskLineWritten: nothing,
  DeskDayBegun: nothing,
  FourEyesSet: nothing,
  FourEyesProposed: nothing,
  FourEyesWithdrawn: nothing,
  DecisionAwaiting: nothing,
  DecisionConfirmed: nothing,
  DecisionWithdrawn: nothing,
  DecisionVoided: nothing,
};

export const loanProjection: Projection = {
  name: 'loan',
  version: LOAN_VERSION,
  tables: [
    ...['loan', 'progress', 'installment', 'installment_credit', 'payment'],
    ...['prepayment', 'document', 'status_history', 'feed'],
  ],
  project: (projected) =>
    (writers[projected.event.type] as (projected: ProjectedEvent) => readonly TableWrite[])(projected),
};
