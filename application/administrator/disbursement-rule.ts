import type { LoanTerms } from '../../domain/loan/state.ts';
import { DomainError } from '../../domain/shared/domain-error.ts';
import { formatCents } from '../../domain/shared/money.ts';
import type { Cents } from '../../domain/shared/money.ts';

const WHOLE = 10_000;

/** Whether a disbursed value is so far from the acquisition value that it has to be said twice. @param tolerance in basis points of the acquisition value */
export const isFarOff = (disbursed: number, acquisition: number, tolerance: number): boolean =>
  Math.abs(disbursed - acquisition) * WHOLE > tolerance * acquisition;

interface Disbursement {
  readonly disbursedValue: Cents;
  readonly confirmedValue?: Cents;
}

const FIELD = 'confirmed_value';
const refusal = (code: string, message: string): DomainError =>
  new DomainError('validation_error', message, [{ field: FIELD, code, message }]);

/** @param tolerance in basis points @throws DomainError `validation_error` for a value far off, not said twice alike */
export const requireConfirmed = (
  { disbursedValue, confirmedValue }: Disbursement,
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
