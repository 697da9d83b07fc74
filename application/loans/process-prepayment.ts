import type { ProcessPrepayment as PrepayCommand } from '../../domain/loan/commands.ts';
import type { LoanEvent, PrepaymentProcessed } from '../../domain/loan/events.ts';
import { loanDecider } from '../../domain/loan/index.ts';
import { partiallyPaid } from '../../domain/loan/payments.ts';
import { askedOnce } from '../command-handling/operation.ts';
import type { Asked } from '../command-handling/operation.ts';
import { decodeLoanEvent } from '../event-codec/event-codec.ts';
import type { EventStore } from '../ports/event-store.ts';
import type { Outcome, RequestContext } from '../command-handling/request-context.ts';
import { requirePaymentDate } from './payment-dates.ts';
import { ENDPOINTS } from '../command-handling/endpoints.ts';
import type { LoanParts } from './loan-parts.ts';

export type AskedPrepayment = Asked<Omit<PrepayCommand, 'leftover'>>;
export type PrepaymentReceipt = ReturnType<typeof receiptOf>;

/**
 * Records money that was paid in advance, and finds which installments it pays off.
 * A replay answers what this prepayment did, whatever happened after it.
 * @throws DomainError `invalid_date`, `idempotency_conflict`, `loan_not_found`, `operation_invalid_state`
 */
export const processPrepayment = async (
  parts: Pick<LoanParts, 'commands' | 'events' | 'vault' | 'clock'>,
  context: RequestContext,
  input: AskedPrepayment,
): Promise<Outcome<PrepaymentReceipt>> => {
  requirePaymentDate(parts.clock, context, 'prepayment_date', input.prepaymentDate);
  const { commands, events, vault, clock } = parts;
  const asked = askedOnce(vault, context, ENDPOINTS.processPrepayment, input);
  const { prepaymentValue, prepaymentDate, paymentMethod } = input;
  const handled = await commands.handle({
    ...asked,
    decide: (state) =>
      loanDecider.decide(
        { type: 'ProcessPrepayment', prepaymentValue, prepaymentDate, paymentMethod, now: clock.now() },
        state,
      ),
  });
  const event = handled.replayed ? await acceptedEvent(events, asked) : handled.events[0];
  if (event?.type !== 'PrepaymentProcessed') throw new Error('an accepted prepayment begins with its event');
  return { replayed: handled.replayed, result: receiptOf(input, event) };
};

export const toldPartial = (event: PrepaymentProcessed) => {
  const partial = partiallyPaid(event);
  if (!partial) return {};
  const { installmentCode, outstandingAtDue: outstandingValue } = partial;
  return { partiallyPaid: { installmentCode, outstandingValue } };
};

const receiptOf = ({ code }: AskedPrepayment, event: PrepaymentProcessed) => {
  return {
    code,
    status: 'prepayment_processed' as const,
    prepaymentValue: event.prepaymentValue,
    settledInstallments: event.settledInstallments,
    remainingBalance: event.remainingBalance,
    excessValue: event.excessValue,
    ...toldPartial(event),
    processedAt: event.processedAt,
  };
};

/** Events at the end of the stream in which it is looked for first: nearly always the last request is repeated. */
const RECENT = 32n;

/** The state does not tell several requests of the same kind apart. */
const acceptedEvent = async (
  store: Pick<EventStore, 'head' | 'read'>,
  { stream, idempotency: { endpoint, key } }: ReturnType<typeof askedOnce>,
): Promise<LoanEvent | undefined> => {
  const head = await store.head(stream);
  const recent = head === 'no_stream' || head < RECENT ? [] : [head - RECENT];
  for (const from of [...recent, 0n]) {
    const { events } = await store.read(stream, from);
    const first = events.find(
      ({ metadata: { idempotency: used } }) => used?.endpoint === endpoint && used.key === key,
    );
    if (first) return decodeLoanEvent(first);
  }
  return undefined;
};
