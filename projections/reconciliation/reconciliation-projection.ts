import type { RepurchaseReason } from '../../domain/loan/events.ts';
import { writeWith } from '../projection.ts';
import type { EventWriters, ProjectedAs, ProjectedEvent, Projection, TableWrite } from '../projection.ts';

export type PaymentKind = 'settlement' | 'prepayment' | 'repurchase';

/** A movement of money that an integrator notified. Amounts in integer cents. */
export interface NotifiedPaymentRow {
  readonly stream: string;
  readonly revision: number;
  readonly event_id: string;
  readonly kind: PaymentKind;
  /** Only of a repurchase. */
  readonly reason: RepurchaseReason | null;
  /** Only of a settlement. */
  readonly installment_code: string | null;
  /** Business date: settled_at, prepayment_date or effective_date. */
  readonly date: string;
  readonly amount: number;
  /** What was owed: the scheduled value, the payoff value, or the calculated repurchase value. */
  readonly owed_value: number;
  /** A settlement's difference to the scheduled value, when less came in. */
  readonly underpaid_value: number;
  /** What is above the owed value. */
  readonly excess_value: number;
  /** What a prepayment lacks to pay off the installment that it reached last, or a repurchase to its calculated value. */
  readonly shortfall_value: number;
  /** Money received before a repurchase; 0 for the other kinds. */
  readonly received_before: number;
  readonly recorded_at: string;
}

type Fact = Omit<NotifiedPaymentRow, 'stream' | 'revision' | 'event_id' | 'recorded_at'>;

const above = (value: number, limit: number): number => Math.max(0, value - limit);

const notified = (
  { stream, revision, id, recordedAt }: ProjectedEvent,
  fact: Fact,
): readonly TableWrite[] => [
  {
    op: 'insert',
    table: 'notified_payment',
    rows: [{ stream, revision: Number(revision), event_id: id, recorded_at: recordedAt, ...fact }],
  },
];

/** Later events do not name their fund, so readers find it here. */
const received = ({ stream, event }: ProjectedAs<'LoanReceived'>): readonly TableWrite[] => [
  {
    op: 'insert',
    table: 'reconciled_operation',
    rows: [{ stream, application_id: event.applicationId, code: event.code, fund_id: event.fundId }],
  },
];

const settled = (projected: ProjectedAs<'InstallmentSettled'>): readonly TableWrite[] => {
  const { installmentCode, settledAt, settledValue, scheduledValue } = projected.event;
  return notified(projected, {
    kind: 'settlement',
    reason: null,
    installment_code: installmentCode,
    date: settledAt,
    amount: settledValue,
    owed_value: scheduledValue,
    underpaid_value: above(scheduledValue, settledValue),
    excess_value: above(settledValue, scheduledValue),
    shortfall_value: 0,
    received_before: 0,
  });
};

const prepaid = (projected: ProjectedAs<'PrepaymentProcessed'>): readonly TableWrite[] => {
  const { prepaymentDate, prepaymentValue, payoffValue, excessValue, partial, lines } = projected.event;
  const reached = lines.reduce((sum, { presentValue }) => sum + presentValue, 0);
  return notified(projected, {
    kind: 'prepayment',
    reason: null,
    installment_code: null,
    date: prepaymentDate,
    amount: prepaymentValue,
    owed_value: payoffValue,
    underpaid_value: 0,
    excess_value: excessValue,
    shortfall_value: partial ? above(reached, prepaymentValue) : 0,
    received_before: 0,
  });
};

const repurchaseRequested = (projected: ProjectedAs<'RepurchaseRequested'>): readonly TableWrite[] => {
  const { reason, effectiveDate, repurchaseValue, calculatedValue, receivedValue } = projected.event;
  return notified(projected, {
    kind: 'repurchase',
    reason,
    installment_code: null,
    date: effectiveDate,
    amount: repurchaseValue,
    owed_value: calculatedValue,
    underpaid_value: 0,
    excess_value: above(repurchaseValue, calculatedValue),
    shortfall_value: above(calculatedValue, repurchaseValue),
    received_before: receivedValue,
  });
};

/** Payments themselves never change, so that they can lie by date. */
const repurchaseCompleted = ({
  stream,
  event,
}: ProjectedAs<'RepurchaseCompleted'>): readonly TableWrite[] => [
  {
    op: 'insert',
    table: 'completed_repurchase',
    rows: [{ stream, completed_at: event.completedAt }],
  },
];

const writers: EventWriters = {
  LoanReceived: received,
  LoanApproved: 'unconcerned',
  LoanRejected: 'unconcerned',
  LoanTermSigned: 'unconcerned',
  LoanDisbursed: 'unconcerned',
  InstallmentSettled: settled,
  InstallmentUnderpaid: 'unconcerned',
  InstallmentBecameOverdue: 'unconcerned',
  PrepaymentProcessed: prepaid,
  LoanFullySettled: 'unconcerned',
  RepurchaseRequested: repurchaseRequested,
  RepurchaseCompleted: repurchaseCompleted,
  DocumentsAdded: 'unconcerned',
  BorrowerForgotten: 'unconcerned',
  LoanReserved: 'unconcerned',
  LoanReservationReleased: 'unconcerned',
  LoanRenegotiated: 'unconcerned',
  LoanRenegotiationCompleted: 'unconcerned',
  RenegotiationStarted: 'unconcerned',
  RenegotiationCommitted: 'unconcerned',
  RenegotiationAborted: 'unconcerned',
  RenegotiationCompleted: 'unconcerned',
};

/** Every movement of money as it was notified, for comparison with what the custodian saw. */
export const reconciliationProjection: Projection = {
  name: 'reconciliation',
  version: 1,
  tables: ['reconciled_operation', 'notified_payment', 'completed_repurchase'],
  ofOperationsAlone: true,
  project: writeWith(writers),
};
