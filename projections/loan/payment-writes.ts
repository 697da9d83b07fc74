import type { RepurchaseReason } from '../../domain/loan/exits.ts';
import type { Reservation } from '../../domain/renegotiation/state.ts';
import type { ProjectedEvent, TableWrite } from '../projection.ts';
import { newLoan } from './assignment-writes.ts';
import {
  privateColumn,
  renegotiationText,
  advance,
  changeInstallment,
  freezeInstallments,
  changeLoan,
  changeStatus,
} from './loan-rows.ts';
import type { Place, Projected } from './loan-rows.ts';

export type PaymentKind = 'settlement' | 'prepayment' | 'repurchase';

export interface Payment {
  readonly kind: PaymentKind;
  readonly reason: RepurchaseReason | null;
  readonly installment_code: string | null;
  readonly date: string;
  readonly amount: number;
  readonly owed_value: number;
  readonly underpaid_value: number;
  readonly excess_value: number;
  readonly shortfall_value: number;
  readonly received_before: number;
  readonly installments: number;
}

const above = (value: number, limit: number): number => Math.max(0, value - limit);

/** Where nothing else is said of a payment. */
const PLAIN = {
  ...{ reason: null, installment_code: null, installments: 0 },
  ...{ underpaid_value: 0, excess_value: 0, shortfall_value: 0, received_before: 0 },
} as const;

const notified = (
  { stream, revision, position, id, recordedAt }: ProjectedEvent,
  payment: Omit<Payment, keyof typeof PLAIN> & Partial<Payment>,
): TableWrite => {
  const place = { stream, revision: Number(revision), position, event_id: id, recorded_at: recordedAt };
  return { op: 'insert', table: 'payment', rows: [{ ...place, ...PLAIN, ...payment }] };
};

export const installmentSettled = (projected: Projected<'InstallmentSettled'>): readonly TableWrite[] => {
  const { installmentCode, settledAt, settledValue, scheduledValue, paymentMethod } = projected.event;
  return [
    changeInstallment(projected, installmentCode, {
      status: 'settled',
      settled_at: settledAt,
      settled_value: settledValue,
      payment_method: paymentMethod,
      recorded_at: projected.recordedAt,
    }),
    notified(projected, {
      kind: 'settlement',
      installment_code: installmentCode,
      date: settledAt,
      amount: settledValue,
      owed_value: scheduledValue,
      underpaid_value: above(scheduledValue, settledValue),
      excess_value: above(settledValue, scheduledValue),
      installments: 1,
    }),
    advance(projected, settledValue),
  ];
};

export const becameOverdue = (projected: Projected<'InstallmentBecameOverdue'>): readonly TableWrite[] => [
  changeInstallment(projected, projected.event.installmentCode, { status: 'overdue' }),
  advance(projected),
];

/** What an installment that was paid off got of the money is its line of the allocation. */
const paidOff = (projected: Projected<'PrepaymentProcessed'>): readonly TableWrite[] => {
  const { settledInstallments, lines, prepaymentDate, paymentMethod } = projected.event;
  const values = new Map(lines.map(({ installmentCode, presentValue }) => [installmentCode, presentValue]));
  return settledInstallments.map((code) =>
    changeInstallment(projected, code, {
      status: 'prepaid',
      settled_at: prepaymentDate,
      settled_value: values.get(code) ?? null,
      payment_method: paymentMethod,
      recorded_at: projected.recordedAt,
    }),
  );
};

const carried = (projected: Projected<'PrepaymentProcessed'>): readonly TableWrite[] => {
  const { stream, revision, recordedAt, event } = projected;
  if (!event.partial) return [];
  const { installmentCode, credit } = event.partial;
  const place = { stream, installment_code: installmentCode, revision: Number(revision) };
  const row = { ...place, value: credit.value, date: credit.date, recorded_at: recordedAt };
  return [{ op: 'insert', table: 'installment_credit', rows: [row] }];
};

const prepayment = ({ stream, revision, event }: Projected<'PrepaymentProcessed'>): TableWrite => ({
  op: 'insert',
  table: 'prepayment',
  rows: [
    {
      stream,
      revision: Number(revision),
      value: event.prepaymentValue,
      date: event.prepaymentDate,
      settled_installments: JSON.stringify(event.settledInstallments),
      excess_value: event.excessValue,
    },
  ],
});

export const prepaid = (projected: Projected<'PrepaymentProcessed'>): readonly TableWrite[] => {
  const { prepaymentDate, prepaymentValue, payoffValue, excessValue } = projected.event;
  const { partial, lines, settledInstallments } = projected.event;
  const reached = lines.reduce((sum, { presentValue }) => sum + presentValue, 0);
  return [
    prepayment(projected),
    ...paidOff(projected),
    ...carried(projected),
    notified(projected, {
      kind: 'prepayment',
      date: prepaymentDate,
      amount: prepaymentValue,
      owed_value: payoffValue,
      excess_value: excessValue,
      shortfall_value: partial ? above(reached, prepaymentValue) : 0,
      installments: settledInstallments.length,
    }),
    advance(projected, prepaymentValue - excessValue),
  ];
};

export const fullySettled = (projected: Projected<'LoanFullySettled'>): readonly TableWrite[] =>
  changeStatus(projected, 'settled', projected.event.processedAt);

/** Installments freeze as they are from the request on. */
export const repurchaseRequested = (projected: Projected<'RepurchaseRequested'>): readonly TableWrite[] => {
  const { reason, reasonDetail, effectiveDate, repurchaseValue, calculatedValue, calculatedAt } =
    projected.event;
  const { receivedValue } = projected.event;
  const repurchase = JSON.stringify({
    reason,
    effectiveDate,
    repurchaseValue,
    calculatedValue,
    calculatedAt,
  });
  const remark = reasonDetail !== undefined && { reason_detail: privateColumn(reasonDetail) };
  return [
    ...changeStatus(projected, 'repurchase_pending', calculatedAt, {
      repurchase,
      ...remark,
      left_date: effectiveDate,
    }),
    freezeInstallments(projected),
    notified(projected, {
      kind: 'repurchase',
      reason,
      date: effectiveDate,
      amount: repurchaseValue,
      owed_value: calculatedValue,
      excess_value: above(repurchaseValue, calculatedValue),
      shortfall_value: above(calculatedValue, repurchaseValue),
      received_before: receivedValue,
    }),
  ];
};

/** Only now does the request count in the portfolio, and then from its effective date on. */
export const repurchaseCompleted = (projected: Projected<'RepurchaseCompleted'>): readonly TableWrite[] => {
  const { status, completedAt } = projected.event;
  const left = { repurchase_completed_at: completedAt, left_recorded_at: projected.recordedAt };
  return changeStatus(projected, status, completedAt, left);
};

/**
 * Originals and successor change in the one transaction of the commit, and no later event of theirs changes more than their versions: no
 * reader sees an original gone without its successor. Rows stand at the revision of the reservation, the last event that their
 * streams hold at that moment.
 */
export const renegotiationCommitted = (
  projected: Projected<'RenegotiationCommitted'>,
): readonly TableWrite[] => {
  const { originals, newLoan: next, received, renegotiation, committedAt } = projected.event;
  const at = ({ stream, revision }: Reservation): Place => ({
    stream,
    revision: BigInt(revision),
    position: projected.position,
    recordedAt: projected.recordedAt,
  });
  const text = renegotiationText('original', renegotiation, null);
  return [
    ...originals.flatMap((original) => [
      ...changeStatus(at(original), 'renegotiated', committedAt, { renegotiation: text }),
      freezeInstallments(original),
    ]),
    ...newLoan(at(next), received),
  ];
};

export const renegotiationCompleted = (
  projected: Projected<'LoanRenegotiationCompleted'>,
): readonly TableWrite[] => {
  const { renegotiation, completedAt } = projected.event;
  return [
    changeLoan(projected, { renegotiation: renegotiationText('original', renegotiation, completedAt) }),
    advance(projected),
  ];
};
