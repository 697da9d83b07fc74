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
import { LOAN_VERSION } from './loan-rows.ts';
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

/** What is told outside. */
const IN_FEED: ReadonlySet<DomainEvent['type']> = new Set<DomainEvent['type']>([
  ...(['LoanReceived', 'LoanApproved', 'LoanRejected', 'LoanTermSigned', 'LoanDisbursed'] as const),
  ...(['InstallmentSettled', 'InstallmentUnderpaid', 'PrepaymentProcessed', 'LoanFullySettled'] as const),
  ...(['RepurchaseRequested', 'RepurchaseCompleted', 'LoanRenegotiationCompleted'] as const),
]);

const inFeed = ({
  event,
  applicationId,
  stream,
  position,
  revision,
}: ProjectedEvent): readonly TableWrite[] =>
  IN_FEED.has(event.type)
    ? [
        {
          op: 'insert',
          table: 'feed',
          rows: [{ stream, application_id: applicationId, position, revision: Number(revision) }],
        },
      ]
    : [];

/** Operations, their installments and their money: what integrators read, what a fund holds and what was notified. */
export const loanProjection: Projection = {
  name: 'loan',
  version: LOAN_VERSION,
  tables: [
    ...['loan', 'progress', 'installment', 'installment_credit', 'payment'],
    ...['prepayment', 'document', 'status_history', 'feed'],
  ],
  project: (projected) => [
    ...(writers[projected.event.type] as (projected: ProjectedEvent) => readonly TableWrite[])(projected),
    ...inFeed(projected),
  ],
};
