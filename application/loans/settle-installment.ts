import { loanDecider } from '../../domain/loan/index.ts';
import type { LoanState } from '../../domain/loan/state.ts';
import type { CommandHandler } from '../command-handling/command-handler.ts';
import { askedBy, canonicalText, loanStream } from '../command-handling/operation.ts';
import type { BorrowerVault } from '../ports/borrower-vault.ts';
import type { BusinessClock } from '../ports/clock.ts';
import type { Outcome, RequestContext } from '../ports/clients.ts';
import { ENDPOINTS, requirePaymentDate } from './inputs.ts';
import type { PaymentDatePolicy, SettleInstallmentInput, SettlementReceipt } from './inputs.ts';

interface Dependencies {
  readonly commands: CommandHandler;
  readonly vault: Pick<BorrowerVault, 'digest'>;
  readonly clock: BusinessClock;
  readonly paymentDates: PaymentDatePolicy;
}

/** Records that an installment was paid. */
export class SettleInstallment {
  readonly #deps: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#deps = dependencies;
  }

  /**
   * @throws DomainError `invalid_date`, `idempotency_conflict`, `loan_not_found`, `installment_not_found`,
   *   `operation_invalid_state`, `installment_already_closed`
   */
  async execute(context: RequestContext, input: SettleInstallmentInput): Promise<Outcome<SettlementReceipt>> {
    const { commands, vault, clock, paymentDates } = this.#deps;
    requirePaymentDate(paymentDates, clock, 'settled_at', input.settledAt);
    const { idempotencyKey, ...contents } = input;
    const { code, ...payment } = contents;
    const { replayed, state } = await commands.handle({
      stream: loanStream(context.applicationId, code),
      ...askedBy(context),
      idempotency: {
        endpoint: ENDPOINTS.settleInstallment,
        key: idempotencyKey,
        fingerprint: vault.digest(canonicalText(contents)),
        claim: true,
      },
      decide: (current) =>
        loanDecider.decide({ type: 'SettleInstallment', ...payment, now: clock.now() }, current),
    });
    return { replayed, result: receiptOf(state, input) };
  }
}

const receiptOf = (state: LoanState, input: SettleInstallmentInput): SettlementReceipt => {
  const index = 'installments' in state ? state.indexByCode.get(input.installmentCode) : undefined;
  const installment = 'installments' in state && index !== undefined ? state.installments[index] : undefined;
  if (installment?.status !== 'settled') throw new Error('an accepted settlement settled its installment');
  return {
    code: input.code,
    installmentCode: installment.code,
    status: 'settled',
    settledAt: installment.settledAt,
    settledValue: installment.settledValue,
    processedAt: installment.processedAt,
  };
};
