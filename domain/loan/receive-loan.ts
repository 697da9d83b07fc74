import { solveDailyFactor } from '../curve/daily-factor.ts';
import { DomainError } from '../shared/domain-error.ts';
import type { FieldViolation } from '../shared/domain-error.ts';
import type { ReceiveLoan } from './commands.ts';
import type { LoanReceived } from './events.ts';
import { codeAlreadyUsed } from './state.ts';
import type { LoanState } from './state.ts';

const MAX_INSTALLMENTS = 480;
const ABOVE_ZERO = 'send an amount above zero';

const violationsOf = ({
  installments,
  acquisitionValue,
  dateIssued,
}: ReceiveLoan): readonly FieldViolation[] => {
  const violations: FieldViolation[] = [];
  const broken = (field: string, code: FieldViolation['code'], remedy: string): void =>
    void violations.push({ field, code, message: `${field}: ${remedy}` });
  if (!(acquisitionValue > 0)) broken('acquisition_value', 'invalid_amount', ABOVE_ZERO);
  if (installments.length < 1 || installments.length > MAX_INSTALLMENTS)
    broken('installments', 'invalid_number_of_installments', `send between 1 and ${MAX_INSTALLMENTS}`);
  const seen = new Set<string>();
  installments.forEach(({ code, dueDate, faceValue }, i) => {
    if (!(faceValue > 0)) broken(`installments[${i}].face_value`, 'invalid_amount', ABOVE_ZERO);
    if (dueDate <= dateIssued) {
      const remedy = `choose a date after the issue on ${dateIssued}`;
      broken(`installments[${i}].due_date`, 'due_date_not_after_issue', remedy);
    }
    if (seen.has(code)) {
      const remedy = `${code} stands for another installment; give each its own code`;
      broken(`installments[${i}].code`, 'duplicate_installment_code', remedy);
    }
    seen.add(code);
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
