import { annualRate } from '../../domain/curve/annual-rate.ts';
import { presentValue } from '../../domain/curve/present-value.ts';
import type { LoanCommand } from '../../domain/loan/commands.ts';
import type { LoanEvent, Pricing } from '../../domain/loan/events.ts';
import { againstSchedule, scheduleOf, scheduledAt } from '../../domain/installment/installment.ts';
import type { Schedule } from '../../domain/installment/installment.ts';
import { fold, loanDecider } from '../../domain/loan/index.ts';
import type { LoanState } from '../../domain/loan/state.ts';
import { daysBetween } from '../../domain/shared/calendar-date.ts';
import type { CalendarDate } from '../../domain/shared/calendar-date.ts';
import type { InstallmentCode, LoanCode } from '../../domain/shared/identifiers.ts';
import { addCents } from '../../domain/shared/money.ts';
import type { Cents } from '../../domain/shared/money.ts';
import { loanStream } from '../command-handling/operation.ts';
import type { RequestContext } from '../command-handling/request-context.ts';
import { checkAsked, receptionOf } from './assign-loan.ts';
import type { AskedAssignment } from './assign-loan.ts';
import { requirePaymentDate, toldPartial } from './payments.ts';
import type { AskedPrepayment, AskedRepurchase, AskedSettlement } from './payments.ts';
import type { LoanParts } from './loan-parts.ts';

export interface QuoteLine {
  readonly installmentCode: InstallmentCode;
  readonly dueDate: CalendarDate;
  readonly faceValue: Cents;
  readonly days: number;
  readonly presentValue: Cents;
}

export interface Quote {
  readonly code: LoanCode;
  readonly resultingStatus: LoanState['status'];
  readonly pricing: Pricing;
}

type Quoting = Pick<LoanParts, 'commands' | 'clock'>;

/**
 * What an assignment would do, by the same checks and the same decision; nothing is stored. Files may be left out.
 * @throws DomainError `fund_not_allowed`, `invalid_file`, `validation_error`, and `proposal_code_already_used` where there is an
 *   operation of this code, the same or another
 */
export const quoteAssignment = async (
  parts: Quoting & Pick<LoanParts, 'inspector'>,
  context: RequestContext,
  input: AskedAssignment,
) => {
  const refused = await checkAsked(parts, context, input);
  if (refused) throw refused;
  const { events } = await parts.commands.preview(loanStream(context.applicationId, input.code), (current) =>
    loanDecider.decide(receptionOf(context, input, parts.clock.now()), current),
  );
  const [received] = events;
  if (received?.type !== 'LoanReceived') throw new Error('an assignment begins with its reception');
  const { code, fundId, acquisitionValue, dateIssued, installments, pricing, receivedAt } = received;
  const open = installments.map((installment) => ({ ...installment, credits: [] }));
  const { lines } = presentValue(pricing.dailyFactor, open, dateIssued);
  return {
    ...{ code, fundId, pricing, acquisitionValue },
    resultingStatus: 'received' as const,
    faceValue: addCents(...installments.map(({ faceValue }) => faceValue)),
    annualRate: annualRate(pricing.dailyFactor),
    lines: linesOf(scheduleOf(installments), lines, dateIssued),
    filesChecked: input.documents.every(({ value }) => input.files.some(({ name }) => name === value)),
    calculatedAt: receivedAt,
  };
};

/** What a command would do; nothing is stored, and the request's key is neither looked up nor used. */
const quoted = async <Type extends LoanEvent['type']>(
  { commands }: Quoting,
  { applicationId, onlyFundIds }: RequestContext,
  {
    code,
    command,
    begins,
  }: { readonly code: LoanCode; readonly command: LoanCommand; readonly begins: Type },
) => {
  const { state, events } = await commands.preview(
    loanStream(applicationId, code),
    (current) => loanDecider.decide(command, current),
    onlyFundIds,
  );
  const [event] = events;
  if (event?.type !== begins || !('exitBasis' in state))
    throw new Error(`what is quoted begins with ${begins}`);
  const quote: Quote = { code, pricing: state.pricing, resultingStatus: fold(state, events).status };
  return { state, quote, event: event as Extract<LoanEvent, { readonly type: Type }> };
};

/**
 * @throws DomainError `invalid_date`, `loan_not_found`, `installment_not_found`, `operation_invalid_state`,
 *   `installment_already_closed`
 */
export const quoteSettlement = async (parts: Quoting, context: RequestContext, input: AskedSettlement) => {
  const { code, idempotencyKey: _, ...payment } = input;
  const { installmentCode, settledAt, settledValue } = payment;
  requirePaymentDate(parts.clock, context, 'settled_at', settledAt);
  const command = { type: 'SettleInstallment', ...payment, now: parts.clock.now() } as const;
  const { state, quote, event } = await quoted(parts, context, {
    ...{ code, command },
    begins: 'InstallmentSettled',
  });
  const { scheduledValue, lateDays } = event;
  const line = { installmentCode, scheduledValue, settledValue, ...againstSchedule(event), lateDays };
  return {
    ...quote,
    ...{ installmentCode, settledAt, settledValue },
    lines: linesOf(state.schedule, [line], settledAt),
    calculatedAt: event.processedAt,
  };
};

/** @throws DomainError `invalid_date`, `loan_not_found`, `operation_invalid_state` */
export const quotePrepayment = async (parts: Quoting, context: RequestContext, input: AskedPrepayment) => {
  const { code, prepaymentValue, prepaymentDate, paymentMethod } = input;
  requirePaymentDate(parts.clock, context, 'prepayment_date', prepaymentDate);
  const payment = { prepaymentValue, prepaymentDate, paymentMethod, now: parts.clock.now() };
  const command = { type: 'ProcessPrepayment', ...payment } as const;
  const { state, quote, event } = await quoted(parts, context, {
    ...{ code, command },
    begins: 'PrepaymentProcessed',
  });
  const { payoffValue, settledInstallments, remainingBalance, excessValue, lines } = event;
  return {
    ...quote,
    calculatedAt: event.processedAt,
    ...{ prepaymentValue, prepaymentDate, payoffValue, settledInstallments, remainingBalance, excessValue },
    ...toldPartial(event),
    lines: linesOf(state.schedule, lines, prepaymentDate),
  };
};

/** @throws DomainError `invalid_date`, `loan_not_found`, `operation_invalid_state` */
export const quoteRepurchase = async (parts: Quoting, context: RequestContext, input: AskedRepurchase) => {
  const { idempotencyKey: _, code, ...request } = input;
  const command = { type: 'RequestRepurchase', ...request, now: parts.clock.now() } as const;
  const { state, quote, event } = await quoted(parts, context, {
    ...{ code, command },
    begins: 'RepurchaseRequested',
  });
  const { reason, effectiveDate, repurchaseValue, calculatedValue, valueSource, receivedValue } = event;
  const { acquisitionValue, disbursedValue, exitBasis } = state;
  return {
    ...quote,
    calculatedAt: event.calculatedAt,
    ...{ reason, effectiveDate, repurchaseValue, calculatedValue, valueSource, receivedValue },
    ...{ acquisitionValue, disbursedValue, exitBasis },
    lines: linesOf(state.schedule, event.lines, effectiveDate),
  };
};

/** Of lines that name installments of this schedule: when each falls due, how far that is, and its face value. */
export const linesOf = <Line extends Pick<QuoteLine, 'installmentCode'>>(
  schedule: Schedule,
  lines: readonly Line[],
  date: CalendarDate,
) => {
  const indexes = new Map(schedule.codes.map((code, index) => [code, index]));
  return lines.map((line) => {
    const { dueDate, faceValue } = scheduledAt(schedule, indexes.get(line.installmentCode) ?? -1);
    return { ...line, dueDate, faceValue, days: daysBetween(date, dueDate) };
  });
};
