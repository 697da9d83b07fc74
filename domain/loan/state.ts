import { presentValuesOn } from '../curve/present-value.ts';
import { isOpen, pendingInstallment, scheduledAt } from '../installment/installment.ts';
import type { Installment, OpenInstallment, Schedule } from '../installment/installment.ts';
import type { CalendarDate } from '../shared/calendar-date.ts';
import { DomainError } from '../shared/domain-error.ts';
import type { FieldViolation } from '../shared/domain-error.ts';
import type { LoanCode, RenegotiationId, Timestamp } from '../shared/identifiers.ts';
import { hasEnded } from './statuses.ts';
import { addCents, formatCents } from '../shared/money.ts';
import type { Cents } from '../shared/money.ts';
import type {
  ExitBasis,
  LoanRenegotiated,
  Offer,
  Pricing,
  RejectionReason,
  RenegotiationTerms,
  RepurchaseRequested,
} from './events.ts';
import type { RepurchaseEndStatus } from './exits.ts';

export interface LoanTerms extends Omit<Offer, 'installments'> {
  readonly schedule: Schedule;
  readonly pricing: Pricing;
  readonly receivedAt: Timestamp;
  /** From then on borrower and documents are unreadable. */
  readonly borrowerForgottenAt?: Timestamp;
  readonly origin?: RenegotiationTerms;
}

/** What an operation accumulates once it is active. */
export interface LoanBooks {
  readonly disbursedValue: Cents;
  readonly disbursementDate?: CalendarDate;
  readonly exitBasis: ExitBasis;
  /** In the order of the schedule; undefined while an installment is pending and nothing came in for it. */
  readonly changed: readonly (Installment | undefined)[];
  readonly openCount: number;
  /** Money received: settlements, charges included, plus prepayments net of excess. */
  readonly receivedValue: Cents;
}

interface NoLoan {
  readonly status: 'none';
}
export interface ReservedCode {
  readonly status: 'code_reserved';
  readonly renegotiationId: RenegotiationId;
}
export interface ReceivedLoan extends LoanTerms {
  readonly status: 'received';
}
interface ApprovedLoan extends LoanTerms {
  readonly status: 'approved';
}
interface RejectedLoan extends LoanTerms {
  readonly status: 'rejected';
  readonly reasons: readonly RejectionReason[];
}
export interface TermSignedLoan extends LoanTerms {
  readonly status: 'term_signed';
}
export interface ActiveLoan extends LoanTerms, LoanBooks {
  readonly status: 'active';
}
interface SettledLoan extends LoanTerms, LoanBooks {
  readonly status: 'settled';
}
interface RepurchasedLoan extends LoanTerms, LoanBooks {
  readonly status: 'repurchase_pending' | RepurchaseEndStatus;
  readonly repurchase: RepurchaseRequested;
}

/** Active, and held by a renegotiation that is not decided yet; readers still see it as active. */
export interface ReservedLoan extends LoanTerms, LoanBooks {
  readonly status: 'reserved';
  readonly renegotiationId: RenegotiationId;
}
export interface RenegotiatedLoan extends LoanTerms, LoanBooks {
  readonly status: 'renegotiated';
  readonly renegotiated: LoanRenegotiated;
  readonly completed?: true;
}

export type LoanState =
  | NoLoan
  | ReservedCode
  | ReceivedLoan
  | ApprovedLoan
  | RejectedLoan
  | TermSignedLoan
  | ActiveLoan
  | SettledLoan
  | RepurchasedLoan
  | ReservedLoan
  | RenegotiatedLoan;

export type ExistingLoan = Exclude<LoanState, NoLoan | ReservedCode>;

/** @throws RangeError there are not so many */
export const installmentAt = (
  { schedule, changed }: Pick<LoanTerms & LoanBooks, 'schedule' | 'changed'>,
  index: number,
): Installment => changed[index] ?? pendingInstallment(scheduledAt(schedule, index));

/** In the order of the schedule. */
export const installmentsOf = (loan: LoanTerms & LoanBooks): readonly Installment[] =>
  loan.schedule.codes.map((_, index) => installmentAt(loan, index));

/** Those that are pending or overdue, in the order of the schedule. */
export const openInstallments = (loan: LoanTerms & LoanBooks): readonly OpenInstallment[] =>
  installmentsOf(loan).filter(isOpen);

/** Face values of the installments that are pending or overdue, in cents; credits of prepayments are not taken off. */
export const openFaceValue = (installments: readonly Installment[]): Cents =>
  addCents(...installments.filter(isOpen).map(({ faceValue }) => faceValue));

/** What would pay off everything open on `date`, in cents, along the curve of this daily factor. */
export const payoffValue = (
  installments: readonly Installment[],
  dailyFactor: string,
  date: CalendarDate,
): Cents => presentValuesOn(date)(dailyFactor, installments.filter(isOpen)).total;

/** What the fund gave for the operation, in cents, as far as an exit is concerned: by the rule under which it was disbursed. */
export const exitBasisValue = ({
  exitBasis,
  disbursedValue,
  acquisitionValue,
}: LoanTerms & LoanBooks): Cents => (exitBasis === 'disbursed_value' ? disbursedValue : acquisitionValue);

/** An operation or a code that a renegotiation holds; a command that meets one waits for that renegotiation first. */
export const isReserved = (state: LoanState): state is ReservedLoan | ReservedCode =>
  state.status === 'reserved' || state.status === 'code_reserved';

export const holds = (
  state: LoanState,
  renegotiation: { readonly renegotiationId: RenegotiationId } | undefined,
): state is ReservedLoan | ReservedCode =>
  isReserved(state) && state.renegotiationId === renegotiation?.renegotiationId;

/** On either side: as an operation that was replaced, or as the one that replaces others. */
export const tookPartInRenegotiation = (state: LoanState): boolean =>
  state.status === 'renegotiated' || ('origin' in state && state.origin !== undefined);

/** @param code of a request that is about several operations */
export const loanNotFound = (code?: LoanCode): DomainError => {
  const missing =
    code === undefined
      ? 'no operation has this code; check originator_proposal_code'
      : `no operation has the code ${code}; check the codes of the originals`;
  const field = 'originator_proposal_code';
  const details = code === undefined ? [{ field, code: 'loan_not_found', message: missing }] : [];
  return new DomainError('loan_not_found', missing, details);
};

/** @param code named by the refusal of a request that is about several operations @throws DomainError `loan_not_found` */
export const requireLoan = (state: LoanState, code?: LoanCode): ExistingLoan => {
  if (state.status !== 'none' && state.status !== 'code_reserved') return state;
  throw loanNotFound(code);
};

/** @param rule what the step needs, and what to do instead */
export const wrongStatus = (loan: ExistingLoan, rule: string): DomainError =>
  new DomainError('operation_invalid_state', `operation ${loan.code} is ${loan.status}; ${rule}`);

export const requireActive = (loan: ExistingLoan, action: string): ActiveLoan => {
  if (loan.status === 'active') return loan;
  const next = hasEnded(loan.status)
    ? 'it has ended and will not change'
    : 'read its status again before the next attempt';
  throw wrongStatus(loan, `${action} needs an active operation: ${next}`);
};

export const codeAlreadyUsed = (code: LoanCode): DomainError =>
  new DomainError(
    'proposal_code_already_used',
    `another operation already has the code ${code}; choose a new originator_proposal_code`,
  );

const onField = (code: 'invalid_date' | 'validation_error', violation: FieldViolation): DomainError =>
  new DomainError(code, violation.message, [violation]);

export const requireNotBeforeIssue = (loan: ExistingLoan, field: string, date: CalendarDate): void => {
  if (date >= loan.dateIssued) return;
  const message = `${field} ${date} comes before the issue of operation ${loan.code}; send ${loan.dateIssued} or a later date`;
  throw onField('invalid_date', { field, code: 'invalid_date', message });
};

export const requirePositive = (field: string, value: Cents | undefined): void => {
  if (value === undefined || value > 0) return;
  const message = `${field} is ${formatCents(value)}; send an amount above zero`;
  throw onField('validation_error', { field, code: 'invalid_amount', message });
};

/** A short loan left open for years outgrows every amount; nothing is decided on a value that is not the true one. */
export const valueOutOfRange = (field: string, date: CalendarDate, remedy: string): DomainError => {
  const message = `the curve's value on ${date} exceeds every amount that can be stated; ${remedy}`;
  return onField('invalid_date', { field, code: 'value_out_of_range', message });
};

/** @throws DomainError `concurrent_modification` while a renegotiation holds it */
export const requireUnreserved = (state: LoanState): LoanState => {
  if (!isReserved(state)) return state;
  throw new DomainError(
    'concurrent_modification',
    'a renegotiation of this operation is being decided; send the request again in a moment',
  );
};
