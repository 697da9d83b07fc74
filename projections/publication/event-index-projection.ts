import { writeWith } from '../projection.ts';
import type { EventWriters, ProjectedEvent, Projection, TableWrite } from '../projection.ts';

const indexed = ({ id, stream, revision }: ProjectedEvent): readonly TableWrite[] => [
  {
    op: 'insert',
    table: 'published_event',
    rows: [{ stream, revision: Number(revision), event_id: id }],
  },
];

const writers: EventWriters = {
  LoanReceived: indexed,
  LoanApproved: indexed,
  LoanRejected: indexed,
  LoanTermSigned: indexed,
  LoanDisbursed: indexed,
  InstallmentSettled: indexed,
  InstallmentUnderpaid: indexed,
  InstallmentBecameOverdue: 'unconcerned',
  PrepaymentProcessed: indexed,
  LoanFullySettled: indexed,
  RepurchaseRequested: indexed,
  RepurchaseCompleted: indexed,
  DocumentsAdded: 'unconcerned',
  BorrowerForgotten: 'unconcerned',
  LoanReserved: 'unconcerned',
  LoanReservationReleased: 'unconcerned',
  LoanRenegotiated: 'unconcerned',
  LoanRenegotiationCompleted: indexed,
  RenegotiationStarted: 'unconcerned',
  RenegotiationCommitted: 'unconcerned',
  RenegotiationAborted: 'unconcerned',
  RenegotiationCompleted: 'unconcerned',
  FundNamed: 'unconcerned',
};

/** Where each published event stands, for a log that finds no event by its id. */
export const eventIndexProjection: Projection = {
  name: 'event-index',
  version: 1,
  tables: ['published_event'],
  ofOperationsAlone: true,
  project: writeWith(writers),
};
