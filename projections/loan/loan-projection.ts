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
import { advance } from './writes.ts';
import type { Projected } from './writes.ts';

type Writers = {
  readonly [Type in DomainEvent['type']]: (projected: Projected<Type>) => readonly TableWrite[];
};

const advanced = (projected: ProjectedEvent): readonly TableWrite[] => [advance(projected)];
const nothing = (): readonly TableWrite[] => [];

/** One entry an event, so that the compiler asks for a new one. */
const writers: Writers = {
  LoanReceived: received,
  LoanApproved: approved,
  LoanRejected: rejected,
  LoanTermSigned: termSigned,
  LoanDisbursed: disbursed,
  InstallmentSettled: installmentSettled,
  InstallmentUnderpaid: advanced,
  InstallmentBecameOverdue: becameOverdue,
  PrepaymentProcessed: prepaid,
  LoanFullySettled: fullySettled,
  RepurchaseRequested: repurchaseRequested,
  RepurchaseCompleted: repurchaseCompleted,
  DocumentsAdded: documentsAdded,
  BorrowerForgotten: borrowerForgotten,
  LoanReserved: advanced,
  LoanReservationReleased: advanced,
  LoanRenegotiated: advanced,
  LoanRenegotiationCompleted: renegotiationCompleted,
  RenegotiationStarted: nothing,
  RenegotiationCommitted: renegotiationCommitted,
  RenegotiationAborted: nothing,
  RenegotiationCompleted: nothing,
  FundNamed: nothing,
  FourEyesSet: nothing,
  FourEyesProposed: nothing,
  FourEyesWithdrawn: nothing,
  DecisionAwaiting: nothing,
  DecisionConfirmed: nothing,
  DecisionWithdrawn: nothing,
  DecisionVoided: nothing,
};

/** Operations, their installments and their money: what integrators read, what a fund holds and what was notified. */
export const loanProjection: Projection = {
  name: 'loan',
  version: 6,
  tables: [
    ...['loan', 'progress', 'installment', 'installment_credit', 'payment'],
    ...['prepayment', 'document', 'status_history'],
  ],
  project: (projected) =>
    (writers[projected.event.type] as (projected: ProjectedEvent) => readonly TableWrite[])(projected),
};
