import { isDailyFactor, solveDailyFactor } from '../../domain/curve/daily-factor.ts';
import { becomeOverdue, partiallyPaid } from '../../domain/loan/payments.ts';
import type { InstallmentBecameOverdue } from '../../domain/installment/installment.ts';
import { decided } from '../../domain/loan/events.ts';
import { loanDecider } from '../../domain/loan/index.ts';
import type {
  LoanCommand,
  LoanEvent,
  LoanReceived,
  LoanReserved,
  LoanState,
} from '../../domain/loan/index.ts';
import { installmentAt } from '../../domain/loan/state.ts';
import { addDays } from '../../domain/shared/calendar-date.ts';
import { parseLoanStream } from '../command-handling/operation.ts';
import { encodeEvent } from '../event-codec/event-codec.ts';
import { businessDayOf } from '../support/business-day.ts';
import { messageOf } from '../support/failures.ts';
import { shown, tellFields, telling } from './difference.ts';
import type { DifferenceKind, Report } from './difference.ts';
import type { DecodedEvent } from './stored-events.ts';

const reservation = (event: LoanReserved, state: LoanState, code: string): LoanCommand => {
  const { renegotiationId, leaseEndsAt } = event;
  return state.status === 'none'
    ? { type: 'ReserveLoanCode', renegotiationId, leaseEndsAt, code: code as LoanReceived['code'] }
    : { type: 'ReserveLoan', renegotiationId, leaseEndsAt };
};

type Caused = Exclude<
  LoanEvent['type'],
  'LoanReceived' | 'InstallmentBecameOverdue' | 'InstallmentUnderpaid' | 'LoanFullySettled'
>;
type Of<Type extends LoanEvent['type']> = Extract<LoanEvent, { type: Type }>;

const repurchase = (event: Of<'RepurchaseRequested'>): LoanCommand => {
  const { reason, reasonDetail, effectiveDate, calculatedAt: now, repurchaseValue } = event;
  return {
    type: 'RequestRepurchase',
    reason,
    ...(reasonDetail !== undefined && { reasonDetail }),
    effectiveDate,
    ...(event.valueSource === 'informed' && { repurchaseValue }),
    now,
  };
};

/** The command that an event says it follows from; one entry an event, so that the compiler asks for a new one. */
const commands: {
  readonly [Type in Caused]: (event: Of<Type>, state: LoanState, code: string) => LoanCommand;
} = {
  LoanApproved: (event) => ({ type: 'ApproveLoan', now: event.approvedAt, ...decided(event) }),
  LoanRejected: (event) => {
    const { reasons, rejectedAt: now } = event;
    return { type: 'RejectLoan', now, reasons, ...decided(event) };
  },
  LoanTermSigned: (event) => ({ type: 'SignLoanTerm', now: event.signedAt, ...decided(event) }),
  LoanDisbursed: ({ exitBasis = 'acquisition_value', ...event }) => ({
    ...event,
    type: 'DisburseLoan',
    exitBasis,
    now: event.disbursedAt,
  }),
  InstallmentSettled: (event) => ({ ...event, type: 'SettleInstallment', now: event.processedAt }),
  PrepaymentProcessed: (event) => ({
    ...event,
    type: 'ProcessPrepayment',
    now: event.processedAt,
    ...(partiallyPaid(event) && { leftover: 'told' as const }),
  }),
  RepurchaseRequested: repurchase,
  RepurchaseCompleted: (event) => ({
    type: 'CompleteRepurchase',
    now: event.completedAt,
    ...decided(event),
  }),
  DocumentsAdded: ({ documents, addedAt: now }) => ({ type: 'AddDocuments', documents, now }),
  BorrowerForgotten: ({ reason, forgottenAt: now }) => ({
    type: 'ForgetBorrower',
    ...(reason !== undefined && { reason }),
    now,
  }),
  LoanReserved: reservation,
  LoanReservationReleased: ({ renegotiationId }) => ({ type: 'ReleaseReservation', renegotiationId }),
  LoanRenegotiated: (event) => ({ ...event, type: 'RenegotiateLoan' }),
  LoanRenegotiationCompleted: ({ renegotiation, completedAt }) => ({
    type: 'CompleteRenegotiation',
    renegotiationId: renegotiation.renegotiationId,
    completedAt,
  }),
};

/** Its timer may have come days late: the first day on which it could says whether it was due at all. */
const overdue = (event: InstallmentBecameOverdue, state: LoanState): readonly LoanEvent[] => {
  if (state.status !== 'active' || businessDayOf(event.recordedAt) <= event.dueDate) return [];
  const index = state.schedule.codes.indexOf(event.installmentCode);
  return index < 0
    ? []
    : becomeOverdue(installmentAt(state, index), addDays(event.dueDate, 1), event.recordedAt);
};

/** The price's factor is checked by itself: solving it again costs more than everything else together. */
const received = (event: LoanReceived, state: LoanState): readonly LoanEvent[] => {
  const { renegotiation } = event;
  if (!renegotiation) return state.status === 'none' ? [event] : [];
  const { renegotiationId } = renegotiation;
  return loanDecider.decide({ type: 'ReceiveRenegotiatedLoan', renegotiationId, received: event }, state);
};

/** Nothing for an event that only follows another. @throws DomainError when the rules refuse it */
const decideAgain = (event: LoanEvent, state: LoanState, code: string): readonly LoanEvent[] => {
  const { type } = event;
  if (type === 'InstallmentUnderpaid' || type === 'LoanFullySettled') return [];
  if (type === 'InstallmentBecameOverdue') return overdue(event, state);
  if (type === 'LoanReceived') return received(event, state);
  const commandOf = commands[type] as (event: LoanEvent, state: LoanState, code: string) => LoanCommand;
  return loanDecider.decide(commandOf(event, state, code), state);
};

const PRICED: ReadonlySet<LoanEvent['type']> = new Set([
  'InstallmentSettled',
  'InstallmentUnderpaid',
  'PrepaymentProcessed',
  'LoanFullySettled',
  'RepurchaseRequested',
  'RepurchaseCompleted',
]);

const kindOf = ({ type }: LoanEvent): DifferenceKind => (PRICED.has(type) ? 'price' : 'decision');

const compareEvents = (
  expected: LoanEvent,
  { event, recorded }: DecodedEvent<LoanEvent>,
  report: Report,
): void => {
  const again = encodeEvent(expected);
  const { type, data } = recorded;
  if (again.type === type && again.data === data) return;
  const tell = telling(report, kindOf(event), recorded);
  if (again.type !== type) return tell('type', again.type, type);
  tellFields(tell, JSON.parse(again.data), JSON.parse(data));
};

const checkReception = ({ recorded, event }: DecodedEvent<LoanReceived>, report: Report): void => {
  const { applicationId, code } = parseLoanStream(recorded.stream) ?? {};
  const tell = telling(report, 'decision', recorded);
  for (const [what, expected, found] of [
    ['application_id', applicationId, event.applicationId],
    ['code', code, event.code],
  ] as const)
    if (expected !== found) tell(what, shown(what, expected), found);
  const { dailyFactor } = event.pricing;
  const price = (expected: string): void =>
    telling(report, 'price', recorded)('pricing.daily_factor', expected, dailyFactor);
  try {
    if (isDailyFactor(dailyFactor, event)) return;
    price(solveDailyFactor(event.acquisitionValue, event.dateIssued, event.installments));
  } catch (error) {
    price(messageOf(error));
  }
};

/** The relay publishes by it; events of before do not say it. */
const checkFund = ({ recorded }: DecodedEvent<LoanEvent>, state: LoanState, report: Report): void => {
  const found = recorded.metadata.fundId;
  const expected = 'fundId' in state ? state.fundId : 'no fund';
  if (found !== undefined && found !== expected)
    telling(report, 'decision', recorded)('metadata.fundId', expected, found);
};

export class DecisionCheck {
  readonly #report: Report;
  readonly #code: string;
  #state: LoanState = loanDecider.initialState;
  /** What the last command caused as well, and the log has still to show. */
  #due: readonly LoanEvent[] = [];

  constructor(stream: string, report: Report) {
    this.#report = report;
    this.#code = parseLoanStream(stream)?.code ?? '';
  }

  take(found: DecodedEvent<LoanEvent>): void {
    const { event } = found;
    const [expected, ...rest] = this.#due.length > 0 ? this.#due : this.#decide(found);
    this.#due = rest;
    if (expected) compareEvents(expected, found, this.#report);
    if (event.type === 'LoanReceived') checkReception({ ...found, event }, this.#report);
    this.#state = loanDecider.evolve(this.#state, event);
    checkFund(found, this.#state, this.#report);
  }

  end(stream: string, revision: number): void {
    for (const missing of this.#due) {
      const tell = telling(this.#report, kindOf(missing), { stream, revision });
      tell('type', `${encodeEvent(missing).type} after it`, 'the end of the stream');
    }
  }

  #decide(found: DecodedEvent<LoanEvent>): readonly LoanEvent[] {
    let reason = `nothing causes it in status ${this.#state.status}`;
    try {
      const events = decideAgain(found.event, this.#state, this.#code);
      if (events.length > 0) return events;
    } catch (error) {
      reason = messageOf(error);
    }
    telling(this.#report, 'decision', found.recorded)('rule', reason, found.recorded.type);
    return [];
  }
}
