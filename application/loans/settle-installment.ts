import { againstSchedule } from '../../domain/installment/installment.ts';
import type { SettleInstallment as SettleCommand } from '../../domain/loan/commands.ts';
import { loanDecider } from '../../domain/loan/index.ts';
import type { LoanState } from '../../domain/loan/state.ts';
import { askedOnce } from '../command-handling/operation.ts';
import type { Asked } from '../command-handling/operation.ts';
import type { Outcome, RequestContext } from '../command-handling/request-context.ts';
import { requirePaymentDate } from './payment-dates.ts';
import { ENDPOINTS } from '../command-handling/endpoints.ts';
import type { LoanParts } from './loan-parts.ts';

export type AskedSettlement = Asked<SettleCommand>;
export type SettlementReceipt = ReturnType<typeof receiptOf>;

/**
 * Records that an installment was paid.
 * @throws DomainError `invalid_date`, `idempotency_conflict`, `loan_not_found`, `installment_not_found`,
 *   `operation_invalid_state`, `installment_already_closed`
 */
export const settleInstallment = async (
  parts: Pick<LoanParts, 'commands' | 'vault' | 'clock'>,
  context: RequestContext,
  input: AskedSettlement,
): Promise<Outcome<SettlementReceipt>> => {
  requirePaymentDate(parts.clock, context, 'settled_at', input.settledAt);
  const { commands, vault, clock } = parts;
  const { idempotencyKey: _key, code: _code, ...payment } = input;
  const { replayed, state } = await commands.handle({
    ...askedOnce(vault, context, ENDPOINTS.settleInstallment, input),
    decide: (current) =>
      loanDecider.decide({ type: 'SettleInstallment', ...payment, now: clock.now() }, current),
  });
  return { replayed, result: receiptOf(state, input) };
};

const receiptOf = (state: LoanState, input: AskedSettlement) => {
  const installment =
    'changed' in state ? state.changed[state.schedule.codes.indexOf(input.installmentCode)] : undefined;
  if (installment?.status !== 'settled') throw new Error('an accepted settlement settled its installment');
  return {
    code: input.code,
    installmentCode: installment.code,
    status: installment.status,
    settledAt: installment.settledAt,
    settledValue: installment.settledValue,
    ...againstSchedule(installment),
    processedAt: installment.processedAt,
  };
};
