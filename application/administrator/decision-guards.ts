import type { LoanEvent } from '../../domain/loan/index.ts';
import type { LoanState, LoanTerms } from '../../domain/loan/state.ts';
import { DomainError } from '../../domain/shared/domain-error.ts';
import type { Timestamp } from '../../domain/shared/identifiers.ts';
import { formatCents } from '../../domain/shared/money.ts';
import { loanStream } from '../command-handling/operation.ts';
import { requirePaymentDate } from '../loans/payments.ts';
import type { BusinessClock } from '../ports/clock.ts';
import type { EventStore } from '../ports/event-store.ts';
import { ChangedMeanwhileError, foundSince, statusOf } from './answers.ts';
import type { SubmittedDecision } from './decisions.ts';

interface Dependencies {
  readonly events: Pick<EventStore, 'read'>;
  readonly clock: BusinessClock;
  readonly disbursementTolerance: number;
}

const CLOCK_TOLERANCE_MS = 300_000;

/** What was done already is answered as done; only then guards count. @throws DomainError */
export const guarded = async (
  { events: store, clock, disbursementTolerance }: Dependencies,
  decision: SubmittedDecision,
  state: LoanState,
  decide: () => readonly LoanEvent[],
): Promise<readonly LoanEvent[]> => {
  const [events, refusal] = decidedOr(decide);
  if (events.length === 0 && refusal === undefined) return events;
  await requireExpected(store, decision, state);
  if (decision.decision === 'disburse')
    requirePaymentDate(clock, { strict: true }, 'disbursement_date', decision.disbursementDate);
  if (refusal) throw refusal;
  if (decision.decision === 'disburse' && 'acquisitionValue' in state)
    requireConfirmed(decision, state, disbursementTolerance);
  return events;
};

const requireExpected = async (
  store: Dependencies['events'],
  { applicationId, code, expectedStatus }: SubmittedDecision,
  state: LoanState,
): Promise<void> => {
  if (expectedStatus === undefined || !('schedule' in state) || statusOf(state) === expectedStatus) return;
  const { events } = await store.read(loanStream(applicationId, code));
  throw new ChangedMeanwhileError(code, expectedStatus, foundSince(expectedStatus, events).changes);
};

/** @throws DomainError `invalid_date` */
export const requirePast = ({ decidedAt }: SubmittedDecision, now: Timestamp): void => {
  if (decidedAt === undefined || Date.parse(decidedAt) <= Date.parse(now) + CLOCK_TOLERANCE_MS) return;
  const message = `decided_at ${decidedAt} lies in the future`;
  throw new DomainError('invalid_date', message, [{ field: 'decided_at', code: 'invalid_date', message }]);
};

const decidedOr = (
  decide: () => readonly LoanEvent[],
): readonly [events: readonly LoanEvent[], refusal?: DomainError] => {
  try {
    return [decide()];
  } catch (error) {
    if (error instanceof DomainError) return [[], error];
    throw error;
  }
};

const WHOLE = 10_000;
type Disbursement = Extract<SubmittedDecision, { decision: 'disburse' }>;

/** Whether a disbursed value is so far from the acquisition value that it has to be said twice. @param tolerance in basis points of the acquisition value */
export const isFarOff = (disbursed: number, acquisition: number, tolerance: number): boolean =>
  Math.abs(disbursed - acquisition) * WHOLE > tolerance * acquisition;

const FIELD = 'confirmed_value';
const refusal = (code: string, message: string): DomainError =>
  new DomainError('validation_error', message, [{ field: FIELD, code, message }]);

/** @param tolerance in basis points @throws DomainError `validation_error` for a value far off, not said twice alike */
const requireConfirmed = (
  { disbursedValue, confirmedValue }: Pick<Disbursement, 'disbursedValue' | 'confirmedValue'>,
  { acquisitionValue }: Pick<LoanTerms, 'acquisitionValue'>,
  tolerance: number,
): void => {
  const value = formatCents(disbursedValue);
  if (confirmedValue !== undefined && confirmedValue !== disbursedValue)
    throw refusal(
      'differs',
      `the disbursed value was given as ${value} and confirmed as ${formatCents(confirmedValue)}; give the same amount twice`,
    );
  if (confirmedValue !== undefined || !isFarOff(disbursedValue, acquisitionValue, tolerance)) return;
  throw refusal(
    'required',
    `the disbursed value ${value} is more than ${tolerance / 100} % away from the acquisition value ${formatCents(acquisitionValue)}; ` +
      `if it is right, give it a second time (${FIELD}, --confirm-value on the command line)`,
  );
};
