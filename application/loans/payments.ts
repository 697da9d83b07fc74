import { addDays } from '../../domain/shared/calendar-date.ts';
import type { CalendarDate } from '../../domain/shared/calendar-date.ts';
import { DomainError } from '../../domain/shared/domain-error.ts';
import type { RequestContext, Outcome } from '../command-handling/request-context.ts';
import type { BusinessClock } from '../ports/clock.ts';
import { againstSchedule } from '../../domain/installment/installment.ts';
import type { SettleInstallment, ProcessPrepayment, RequestRepurchase } from '../../domain/loan/commands.ts';
import { loanDecider } from '../../domain/loan/index.ts';
import type { LoanState } from '../../domain/loan/state.ts';
import { askedOnce } from '../command-handling/operation.ts';
import type { Asked } from '../command-handling/operation.ts';
import { ENDPOINTS } from '../command-handling/endpoints.ts';
import type { LoanParts } from './loan-parts.ts';
import type { LoanEvent, PrepaymentProcessed } from '../../domain/loan/events.ts';
import { partiallyPaid } from '../../domain/loan/payments.ts';
import { decodeLoanEvent } from '../event-codec/event-codec.ts';
import type { EventStore } from '../ports/event-store.ts';
import type { BorrowerVault } from '../ports/borrower-vault.ts';

/** @throws DomainError `invalid_date` for a date after tomorrow (America/Sao_Paulo) where none may lie further ahead */
export const requirePaymentDate = (
  clock: Pick<BusinessClock, 'today'>,
  { strict }: Pick<RequestContext, 'strict'>,
  field: string,
  date: CalendarDate,
): void => {
  if (!strict) return;
  const last = addDays(clock.today(), 1);
  if (date <= last) return;
  const message = `${field} ${date} lies in the future; the last date accepted today is ${last}`;
  throw new DomainError('invalid_date', message, [{ field, code: 'invalid_date', message }]);
};

export type AskedSettlement = Asked<SettleInstallment>;
export type SettlementReceipt = ReturnType<typeof settlementReceipt>;

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
  return { replayed, result: settlementReceipt(state, input) };
};

const settlementReceipt = (state: LoanState, input: AskedSettlement) => {
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

export type AskedPrepayment = Asked<Omit<ProcessPrepayment, 'leftover'>>;
export type PrepaymentReceipt = ReturnType<typeof prepaymentReceipt>;

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
  return { replayed: handled.replayed, result: prepaymentReceipt(input, event) };
};

export const toldPartial = (event: PrepaymentProcessed) => {
  const partial = partiallyPaid(event);
  if (!partial) return {};
  const { installmentCode, outstandingAtDue: outstandingValue } = partial;
  return { partiallyPaid: { installmentCode, outstandingValue } };
};

const prepaymentReceipt = ({ code }: AskedPrepayment, event: PrepaymentProcessed) => ({
  code,
  status: 'prepayment_processed' as const,
  prepaymentValue: event.prepaymentValue,
  settledInstallments: event.settledInstallments,
  remainingBalance: event.remainingBalance,
  excessValue: event.excessValue,
  ...toldPartial(event),
  processedAt: event.processedAt,
});

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

export type AskedRepurchase = Asked<Omit<RequestRepurchase, 'reasonDetail'>> & {
  readonly reasonDetail?: string;
};
export type RepurchaseReceipt = ReturnType<typeof repurchaseReceipt>;

type Remark = Pick<RequestRepurchase, 'reasonDetail'>;

/**
 * Asks that an operation leaves the portfolio; the administrator completes it.
 * A replay answers the value of the request and the status of now.
 * @throws DomainError `invalid_date`, `idempotency_conflict`, `loan_not_found`, `operation_invalid_state`
 */
export const requestRepurchase = async (
  { commands, vault, clock }: Pick<LoanParts, 'commands' | 'vault' | 'clock'>,
  context: RequestContext,
  input: AskedRepurchase,
): Promise<Outcome<RepurchaseReceipt>> => {
  const { idempotencyKey: _key, code: _code, reasonDetail, ...request } = input;
  const asked = askedOnce(vault, context, ENDPOINTS.requestRepurchase, input);
  const { replayed, state } = await commands.handle({
    ...asked,
    decide: async (current) => {
      const remark = await sealRemark(vault, asked.stream, reasonDetail, current);
      return loanDecider.decide(
        { type: 'RequestRepurchase', ...request, ...remark, now: clock.now() },
        current,
      );
    },
  });
  return { replayed, result: repurchaseReceipt(state) };
};

/** Once the borrower is forgotten there is nothing left to seal a remark with, so none is kept. */
const sealRemark = async (
  vault: Pick<BorrowerVault, 'sealText'>,
  stream: string,
  remark: string | undefined,
  state: LoanState,
): Promise<Remark> => {
  if (remark === undefined || !('schedule' in state) || state.borrowerForgottenAt !== undefined) return {};
  const reasonDetail = await vault.sealText(stream, remark);
  return reasonDetail ? { reasonDetail } : {};
};

/** An operation has at most one repurchase, because no state after it is active again. A replay tells how it ended. */
const repurchaseReceipt = (state: LoanState) => {
  if (!('repurchase' in state)) throw new Error('an accepted repurchase stands in the state');
  const { code, status, repurchase } = state;
  const { reason, repurchaseValue, calculatedAt } = repurchase;
  return { code, status, reason, repurchaseValue, calculatedAt };
};
