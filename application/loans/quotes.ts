import { loanDecider } from '../../domain/loan/index.ts';
import type {
  AllocationLine,
  LoanEvent,
  PresentValueLine,
  Pricing,
  RepurchaseReason,
} from '../../domain/loan/events.ts';
import type { LoanState } from '../../domain/loan/state.ts';
import { daysBetween } from '../../domain/shared/calendar-date.ts';
import type { CalendarDate } from '../../domain/shared/calendar-date.ts';
import type { InstallmentCode, LoanCode, Timestamp } from '../../domain/shared/identifiers.ts';
import type { Cents } from '../../domain/shared/money.ts';
import type { CommandHandler } from '../command-handling/command-handler.ts';
import { loanStream } from '../command-handling/stream-names.ts';
import type { Clock } from '../ports/clock.ts';
import type { RequestContext } from '../request-context.ts';
import type { ProcessPrepaymentInput, RequestRepurchaseInput } from './inputs.ts';
import { requirePaymentDate } from './payment-date.ts';
import type { PaymentDatePolicy } from './payment-date.ts';

/** One open installment and what it is worth on the quote's date. */
export interface QuoteLine {
  readonly installmentCode: InstallmentCode;
  readonly dueDate: CalendarDate;
  readonly faceValue: Cents;
  /** From the quote's date to the due date; negative once it is past. */
  readonly days: number;
  readonly presentValue: Cents;
}
export interface PrepaymentQuoteLine extends QuoteLine {
  readonly paidOff: boolean;
}

interface Quote {
  readonly code: LoanCode;
  /** Of the operation, had the request been made in earnest. */
  readonly resultingStatus: LoanState['status'];
  readonly pricing: Pricing;
  readonly calculatedAt: Timestamp;
}

export interface PrepaymentQuote extends Quote {
  readonly prepaymentValue: Cents;
  readonly prepaymentDate: CalendarDate;
  /** Present value of everything open on that date. */
  readonly payoffValue: Cents;
  readonly settledInstallments: readonly InstallmentCode[];
  readonly remainingBalance: Cents;
  readonly excessValue: Cents;
  readonly partiallyPaid?: { readonly installmentCode: InstallmentCode; readonly outstandingValue: Cents };
  /** The installments that the money reaches, in the order in which it does. */
  readonly lines: readonly PrepaymentQuoteLine[];
}

export interface RepurchaseQuote extends Quote {
  readonly reason: RepurchaseReason;
  readonly effectiveDate: CalendarDate;
  readonly repurchaseValue: Cents;
  readonly calculatedValue: Cents;
  readonly valueSource: 'calculated' | 'informed';
  readonly acquisitionValue: Cents;
  readonly receivedValue: Cents;
  /** Add up to the calculated value; empty where the reason does not follow the curve. */
  readonly lines: readonly QuoteLine[];
}

interface Dependencies {
  readonly commands: Pick<CommandHandler, 'preview'>;
  readonly clock: Clock;
  readonly paymentDates: PaymentDatePolicy;
}

/** Answers what a request would do, by the same decisions, and stores nothing. The request's key is neither looked up nor used. */
export class Quotes {
  readonly #deps: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#deps = dependencies;
  }

  /** @throws DomainError `invalid_date`, `loan_not_found`, `operation_invalid_state` */
  async prepayment(context: RequestContext, input: ProcessPrepaymentInput): Promise<PrepaymentQuote> {
    const { commands, clock, paymentDates } = this.#deps;
    const { code, prepaymentValue, prepaymentDate, paymentMethod } = input;
    requirePaymentDate(paymentDates, clock, 'prepayment_date', prepaymentDate);
    const payment = { prepaymentValue, prepaymentDate, paymentMethod, now: clock.now() };
    const { state, events } = await commands.preview(loanStream(context.applicationId, code), (current) =>
      loanDecider.decide({ type: 'ProcessPrepayment', ...payment }, current),
    );
    const event = events[0];
    if (event?.type !== 'PrepaymentProcessed') throw new Error('a prepayment begins with its event');
    const { payoffValue, settledInstallments, remainingBalance, excessValue, partial, lines } = event;
    return {
      ...quoteOf(code, state, event, events),
      calculatedAt: event.processedAt,
      ...{ prepaymentValue, prepaymentDate, payoffValue, settledInstallments, remainingBalance, excessValue },
      ...(partial && {
        partiallyPaid: {
          installmentCode: partial.installmentCode,
          outstandingValue: partial.outstandingAtDue,
        },
      }),
      lines: linesOf(state, lines, prepaymentDate),
    };
  }

  /** @throws DomainError `invalid_date`, `loan_not_found`, `operation_invalid_state` */
  async repurchase(context: RequestContext, input: RequestRepurchaseInput): Promise<RepurchaseQuote> {
    const { commands, clock } = this.#deps;
    const { idempotencyKey: _, code, ...request } = input;
    const now = clock.now();
    const { state, events } = await commands.preview(loanStream(context.applicationId, code), (current) =>
      loanDecider.decide({ type: 'RequestRepurchase', ...request, now }, current),
    );
    const event = events[0];
    if (event?.type !== 'RepurchaseRequested') throw new Error('a repurchase begins with its request');
    const { reason, effectiveDate, repurchaseValue, calculatedValue, valueSource, receivedValue } = event;
    return {
      ...quoteOf(code, state, event, events),
      calculatedAt: event.calculatedAt,
      ...{ reason, effectiveDate, repurchaseValue, calculatedValue, valueSource, receivedValue },
      acquisitionValue: acquisitionOf(state),
      lines: linesOf(state, event.lines, effectiveDate),
    };
  }
}

const quoteOf = (
  code: LoanCode,
  state: LoanState,
  { pricing }: { readonly pricing: Pricing },
  events: readonly LoanEvent[],
) => ({
  code,
  pricing,
  resultingStatus: events.reduce((before, event) => loanDecider.evolve(before, event), state).status,
});

const acquisitionOf = (state: LoanState): Cents => {
  if (!('acquisitionValue' in state)) throw new Error('an operation has a price');
  return state.acquisitionValue;
};

const linesOf = <Line extends PresentValueLine | AllocationLine>(
  state: LoanState,
  lines: readonly Line[],
  date: CalendarDate,
): readonly (Line & Omit<QuoteLine, keyof PresentValueLine>)[] => {
  if (!('schedule' in state)) return [];
  return lines.map((line) => {
    const installment = state.schedule[state.indexByCode.get(line.installmentCode) ?? -1];
    if (!installment) throw new Error(`installment ${line.installmentCode} is not in the schedule`);
    const { dueDate, faceValue } = installment;
    return { ...line, dueDate, faceValue, days: daysBetween(date, dueDate) };
  });
};
