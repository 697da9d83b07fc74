import { isDailyFactor } from '../../domain/curve/daily-factor-check.ts';
import { solveDailyFactor } from '../../domain/curve/daily-factor.ts';
import { becomeOverdue, partiallyPaid } from '../../domain/loan/payments.ts';
import type { InstallmentBecameOverdue } from '../../domain/installment/installment.ts';
import { loanDecider } from '../../domain/loan/index.ts';
import type {
  DecisionRecord,
  LoanCommand,
  LoanEvent,
  LoanReceived,
  LoanReserved,
  LoanState,
} from '../../domain/loan/index.ts';
import { addDays } from '../../domain/shared/calendar-date.ts';
import { parseLoanStream } from '../command-handling/operation.ts';
import { encodeEvent } from '../event-codec/event-codec.ts';
import { messageOf } from '../support/failures.ts';
import { fieldDifferences, shown } from './difference.ts';
import type { DifferenceKind, Report } from './difference.ts';
import type { DecodedEvent } from './stored-events.ts';

const decidedBy = ({ decision }: { readonly decision?: DecisionRecord }) => (decision ? { decision } : {});

/** An operation's code is reserved before it has a state, an active one as it is. */
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
  LoanApproved: (event) => ({ type: 'ApproveLoan', now: event.approvedAt, ...decidedBy(event) }),
  LoanRejected: (event) => {
    const { reasons, rejectedAt: now } = event;
    return { type: 'RejectLoan', now, reasons, ...decidedBy(event) };
  },
  LoanTermSigned: (event) => ({ type: 'SignLoanTerm', now: event.signedAt, ...decidedBy(event) }),
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
    ...decidedBy(event),
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
  if (state.status !== 'active' || event.recordedAt.slice(0, 10) <= event.dueDate) return [];
  const index = state.indexByCode.get(event.installmentCode);
  const installment = index === undefined ? undefined : state.installments[index];
  return installment ? becomeOverdue(installment, addDays(event.dueDate, 1), event.recordedAt) : [];
};

/** The price's factor is checked by itself: solving it again costs more than everything else together. */
const received = (event: LoanReceived, state: LoanState): readonly LoanEvent[] => {
  const { renegotiation } = event;
  if (!renegotiation) return state.status === 'none' ? [event] : [];
  const { renegotiationId } = renegotiation;
  return loanDecider.decide({ type: 'ReceiveRenegotiatedLoan', renegotiationId, received: event }, state);
};

/**
 * Everything that the rules of today make of the command behind this event, in the state before it; nothing where the event has no
 * command of its own and only follows another. @throws DomainError when the rules refuse it
 */
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

/** Text first, which is equal almost always; otherwise field by field, because older versions may have written another order. */
const compareEvents = (expected: LoanEvent, found: DecodedEvent<LoanEvent>, report: Report): void => {
  const again = encodeEvent(expected);
  const { stream, revision, type, data } = found.recorded;
  if (again.type === type && again.data === data) return;
  const place = { kind: kindOf(found.event), stream, revision: Number(revision) };
  if (again.type !== type) return report({ ...place, what: 'type', expected: again.type, found: type });
  for (const { path, ...values } of fieldDifferences(JSON.parse(again.data), JSON.parse(data))) {
    const [before, after] = [shown(path, values.expected), shown(path, values.found)];
    report({ ...place, what: path, expected: before, found: after });
  }
};

const checkReception = (
  { recorded: { stream, revision }, event }: DecodedEvent<LoanReceived>,
  report: Report,
): void => {
  const named = parseLoanStream(stream);
  const place = { stream, revision: Number(revision) };
  for (const [what, expected, found] of [
    ['application_id', named?.applicationId, event.applicationId],
    ['code', named?.code, event.code],
  ] as const) {
    if (expected !== found)
      report({ kind: 'decision', ...place, what, expected: shown(what, expected), found });
  }
  const { dailyFactor } = event.pricing;
  try {
    if (isDailyFactor(dailyFactor, event)) return;
    const expected = solveDailyFactor(event.acquisitionValue, event.dateIssued, event.installments);
    report({ kind: 'price', ...place, what: 'pricing.daily_factor', expected, found: dailyFactor });
  } catch (error) {
    const expected = messageOf(error);
    report({ kind: 'price', ...place, what: 'pricing.daily_factor', expected, found: dailyFactor });
  }
};

/** The relay publishes by it; events of before do not say it. */
const checkFund = (
  { recorded: { stream, revision, metadata } }: DecodedEvent<LoanEvent>,
  state: LoanState,
  report: Report,
): void => {
  const found = metadata.fundId;
  const expected = 'fundId' in state ? state.fundId : 'no fund';
  if (found === undefined || found === expected) return;
  report({ kind: 'decision', stream, revision: Number(revision), what: 'metadata.fundId', expected, found });
};

/** Decides everything once more, each event on the state that the ones before it left. */
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

  get state(): LoanState {
    return this.#state;
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

  /** To be called after the last event. */
  end(stream: string, revision: number): void {
    for (const missing of this.#due) {
      const { type } = encodeEvent(missing);
      const place = { kind: kindOf(missing), stream, revision, what: 'type' };
      this.#report({ ...place, expected: `${type} after it`, found: 'the end of the stream' });
    }
  }

  #decide(found: DecodedEvent<LoanEvent>): readonly LoanEvent[] {
    const { stream, revision, type } = found.recorded;
    let reason = `nothing causes it in status ${this.#state.status}`;
    try {
      const decided = decideAgain(found.event, this.#state, this.#code);
      if (decided.length > 0) return decided;
    } catch (error) {
      reason = messageOf(error);
    }
    const place = { stream, revision: Number(revision), what: 'rule' };
    this.#report({ kind: 'decision', ...place, expected: reason, found: type });
    return [];
  }
}
