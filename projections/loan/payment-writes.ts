import type { TableWrite } from '../projection.ts';
import { advanceLoan, changeInstallment, changeStatus } from './writes.ts';
import type { Projected } from './writes.ts';

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
