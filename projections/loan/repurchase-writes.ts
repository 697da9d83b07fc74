import type { TableWrite } from '../projection.ts';
import { privateColumn } from './private-column.ts';
import { changeInstallments, changeStatus } from './writes.ts';
import type { Projected } from './writes.ts';

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
