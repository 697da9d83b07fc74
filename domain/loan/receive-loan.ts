import { solveDailyFactor } from '../curve/daily-factor.ts';
import type { ScheduledInstallment } from '../installment/installment.ts';
import { DomainError } from '../shared/domain-error.ts';
import type { FieldViolation } from '../shared/domain-error.ts';
import type { ReceiveLoan } from './commands.ts';
import type { LoanReceived } from './events.ts';
import { codeAlreadyUsed } from './state.ts';
import type { LoanState } from './state.ts';

const MAX_INSTALLMENTS = 480;

const amountAboveZero = (field: string, value: number): readonly FieldViolation[] =>
  value > 0 ? [] : [{ field, code: 'invalid_amount', message: `${field}: send an amount above zero` }];

const violationsOfInstallment = (
  { dateIssued }: ReceiveLoan,
  installment: ScheduledInstallment,
  place: { readonly field: string; readonly repeated: boolean },
): readonly FieldViolation[] => {
  const { field, repeated } = place;
  const violations = [...amountAboveZero(`${field}.face_value`, installment.faceValue)];
  if (installment.dueDate <= dateIssued) {
    const message = `${field}.due_date: choose a date after the issue on ${dateIssued}`;
    violations.push({ field: `${field}.due_date`, code: 'due_date_not_after_issue', message });
  }
  if (repeated) {
    const message = `${field}.code: ${installment.code} stands for another installment; give each its own code`;
    violations.push({ field: `${field}.code`, code: 'duplicate_installment_code', message });
  }
  return violations;
};

const violationsOf = (command: ReceiveLoan): readonly FieldViolation[] => {
  const { installments, acquisitionValue } = command;
  const violations = [...amountAboveZero('acquisition_value', acquisitionValue)];
  if (installments.length < 1 || installments.length > MAX_INSTALLMENTS) {
    const message = `installments: send between 1 and ${MAX_INSTALLMENTS}`;
    violations.push({ field: 'installments', code: 'invalid_number_of_installments', message });
  }
  const seen = new Set<string>();
  installments.forEach((installment, i) => {
    const place = { field: `installments[${i}]`, repeated: seen.has(installment.code) };
    seen.add(installment.code);
    violations.push(...violationsOfInstallment(command, installment, place));
  });
  return violations;
};

export const receiveLoan = (command: ReceiveLoan, state: LoanState): readonly LoanReceived[] => {
  if (state.status !== 'none') throw codeAlreadyUsed(command.code);
  const violations = violationsOf(command);
  if (violations.length > 0) {
    throw new DomainError(
      'validation_error',
      'the operation breaks rules; correct the fields in details',
      violations,
    );
  }
  const { type: _, now, ...offer } = command;
  const { acquisitionValue, dateIssued, installments } = offer;
  const dailyFactor = solveDailyFactor(acquisitionValue, dateIssued, installments);
  return [{ type: 'LoanReceived', ...offer, pricing: { policy: 'curve_v1', dailyFactor }, receivedAt: now }];
};
