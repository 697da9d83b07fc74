import type { SettleInstallmentInput } from '../../../application/loans/inputs.ts';
import type { PaymentMethod } from '../../../domain/installment/events.ts';
import type { CalendarDate } from '../../../domain/shared/calendar-date.ts';
import type { InstallmentCode, LoanCode } from '../../../domain/shared/identifiers.ts';
import { centsFromAmount } from '../../../domain/shared/money.ts';

/** What the schema Settlement has let through. */
export interface SettlementBody {
  readonly originator_proposal_code: string;
  readonly installment_code: string;
  readonly settled_at: string;
  readonly settled_value: number;
  readonly payment_method: PaymentMethod;
  readonly idempotency_key: string;
  /** True: only say what would happen. */
  readonly dry_run?: boolean;
}

export const settleInstallmentInput = (body: SettlementBody): SettleInstallmentInput => ({
  code: body.originator_proposal_code as LoanCode,
  installmentCode: body.installment_code as InstallmentCode,
  settledAt: body.settled_at as CalendarDate,
  settledValue: centsFromAmount(body.settled_value),
  paymentMethod: body.payment_method,
  idempotencyKey: body.idempotency_key,
});
