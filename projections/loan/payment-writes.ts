import type { Reservation } from '../../domain/renegotiation/state.ts';
import type { TableWrite } from '../projection.ts';
import { newLoan } from './assignment-writes.ts';
import { privateColumn, renegotiationText } from './loan-view.ts';
import { advanceLoan, changeInstallment, changeInstallments, changeStatus } from './writes.ts';
import type { Place, Projected } from './writes.ts';

export const installmentSettled = (projected: Projected<'InstallmentSettled'>): readonly TableWrite[] => {
  const { installmentCode, settledAt, settledValue, paymentMethod } = projected.event;
  return [
    changeInstallment(projected, installmentCode, {
      status: 'settled',
      settled_at: settledAt,
      settled_value: settledValue,
      payment_method: paymentMethod,
    }),
    advanceLoan(projected, {}, { received_value: settledValue }),
  ];
};

export const becameOverdue = (projected: Projected<'InstallmentBecameOverdue'>): readonly TableWrite[] => [
  changeInstallment(projected, projected.event.installmentCode, { status: 'overdue' }),
  advanceLoan(projected),
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
    }),
  );
};

const carried = (projected: Projected<'PrepaymentProcessed'>): readonly TableWrite[] => {
  const { stream, revision, event } = projected;
  if (!event.partial) return [];
  const { installmentCode, credit } = event.partial;
  const { value, date } = credit;
  const row = { stream, installment_code: installmentCode, revision: Number(revision), value, date };
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
  const { prepaymentValue, excessValue } = projected.event;
  return [
    prepayment(projected),
    ...paidOff(projected),
    ...carried(projected),
    advanceLoan(projected, {}, { received_value: prepaymentValue - excessValue }),
  ];
};

export const fullySettled = (projected: Projected<'LoanFullySettled'>): readonly TableWrite[] =>
  changeStatus(projected, 'settled', projected.event.processedAt);

/** Installments freeze as they are from the request on. */
export const repurchaseRequested = (projected: Projected<'RepurchaseRequested'>): readonly TableWrite[] => {
  const { reason, reasonDetail, effectiveDate, repurchaseValue, calculatedValue, calculatedAt } =
    projected.event;
  const repurchase = JSON.stringify({
    reason,
    effectiveDate,
    repurchaseValue,
    calculatedValue,
    calculatedAt,
  });
  const remark = reasonDetail !== undefined && { reason_detail: privateColumn(reasonDetail) };
  return [
    ...changeStatus(projected, 'repurchase_pending', calculatedAt, { repurchase, ...remark }),
    changeInstallments(projected, { payable: 0 }),
  ];
};

export const repurchaseCompleted = (projected: Projected<'RepurchaseCompleted'>): readonly TableWrite[] => {
  const { status, completedAt } = projected.event;
  return changeStatus(projected, status, completedAt, { repurchase_completed_at: completedAt });
};

/**
 * Both sides change in the one transaction of the commit, and no later event of theirs changes more than their versions: no
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
    recordedAt: projected.recordedAt,
  });
  const text = renegotiationText('original', renegotiation, null);
  return [
    ...originals.flatMap((original) => [
      ...changeStatus(at(original), 'renegotiated', committedAt, { renegotiation: text }),
      changeInstallments(original, { payable: 0 }),
    ]),
    ...newLoan(at(next), received),
  ];
};

export const renegotiationCompleted = (
  projected: Projected<'LoanRenegotiationCompleted'>,
): readonly TableWrite[] => {
  const { renegotiation, completedAt } = projected.event;
  return [
    advanceLoan(projected, { renegotiation: renegotiationText('original', renegotiation, completedAt) }),
  ];
};
