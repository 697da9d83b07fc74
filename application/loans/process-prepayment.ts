import type { LoanEvent, PrepaymentProcessed } from '../../domain/loan/events.ts';
import { loanDecider } from '../../domain/loan/index.ts';
import type { CommandHandler, Handled } from '../command-handling/command-handler.ts';
import { askedBy, canonicalText, loanStream } from '../command-handling/operation.ts';
import { decodeLoanEvent } from '../event-codec/event-codec.ts';
import type { BorrowerVault } from '../ports/borrower-vault.ts';
import type { BusinessClock } from '../ports/clock.ts';
import type { EventStore } from '../ports/event-store.ts';
import type { Outcome, RequestContext } from '../ports/clients.ts';
import { ENDPOINTS, requirePaymentDate } from './inputs.ts';
import type { PaymentDatePolicy, PrepaymentReceipt, ProcessPrepaymentInput } from './inputs.ts';

interface Dependencies {
  readonly commands: CommandHandler;
  readonly events: Pick<EventStore, 'read'>;
  readonly vault: Pick<BorrowerVault, 'digest'>;
  readonly clock: BusinessClock;
  readonly paymentDates: PaymentDatePolicy;
}

/** Records money that was paid in advance, and finds which installments it pays off. */
export class ProcessPrepayment {
  readonly #deps: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#deps = dependencies;
  }

  /**
   * A replay answers what this prepayment did, whatever happened after it.
   * @throws DomainError `invalid_date`, `idempotency_conflict`, `loan_not_found`, `operation_invalid_state`
   */
  async execute(context: RequestContext, input: ProcessPrepaymentInput): Promise<Outcome<PrepaymentReceipt>> {
    const { commands, events, vault, clock, paymentDates } = this.#deps;
    requirePaymentDate(paymentDates, clock, 'prepayment_date', input.prepaymentDate);
    const stream = loanStream(context.applicationId, input.code);
    const { idempotencyKey, ...contents } = input;
    const { prepaymentValue, prepaymentDate, paymentMethod } = input;
    const handled = await commands.handle({
      stream,
      ...askedBy(context),
      idempotency: {
        endpoint: ENDPOINTS.processPrepayment,
        key: idempotencyKey,
        fingerprint: vault.digest(canonicalText(contents)),
        claim: true,
      },
      decide: (state) =>
        loanDecider.decide(
          { type: 'ProcessPrepayment', prepaymentValue, prepaymentDate, paymentMethod, now: clock.now() },
          state,
        ),
    });
    const event = await acceptedEvent(events, stream, handled);
    if (event?.type !== 'PrepaymentProcessed')
      throw new Error('an accepted prepayment begins with its event');
    return { replayed: handled.replayed, result: receiptOf(input, event) };
  }
}

const receiptOf = ({ code }: ProcessPrepaymentInput, event: PrepaymentProcessed): PrepaymentReceipt => ({
  code,
  status: 'prepayment_processed',
  prepaymentValue: event.prepaymentValue,
  settledInstallments: event.settledInstallments,
  remainingBalance: event.remainingBalance,
  excessValue: event.excessValue,
  ...(event.partial && {
    partiallyPaid: {
      installmentCode: event.partial.installmentCode,
      outstandingValue: event.partial.outstandingAtDue,
    },
  }),
  processedAt: event.processedAt,
});

/**
 * The first event of an accepted request: just decided, or as it was stored when the request was accepted. A replay reads the
 * stream for it, because the state does not tell several requests of the same kind apart.
 */
const acceptedEvent = async (
  store: Pick<EventStore, 'read'>,
  stream: string,
  handled: Handled,
): Promise<LoanEvent | undefined> => {
  if (!handled.replayed) return handled.events[0];
  const [first] = (await store.read(stream, handled.acceptedAt)).events;
  return first && decodeLoanEvent(first);
};
