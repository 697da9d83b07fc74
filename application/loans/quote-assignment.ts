import { annualRate } from '../../domain/curve/annual-rate.ts';
import { presentValue } from '../../domain/curve/present-value.ts';
import { loanDecider } from '../../domain/loan/index.ts';
import { daysBetween } from '../../domain/shared/calendar-date.ts';
import { addCents } from '../../domain/shared/money.ts';
import { loanStream } from '../command-handling/operation.ts';
import type { RequestContext } from '../command-handling/request-context.ts';
import { checkAsked, receptionOf } from './assign-loan.ts';
import type { AskedAssignment } from './assign-loan.ts';
import type { LoanParts } from './loan-parts.ts';

/**
 * What an assignment would do, by the same checks and the same decision; nothing is stored. Files may be left out.
 * @throws DomainError `fund_not_allowed`, `invalid_file`, `validation_error`, and `proposal_code_already_used` where there is an
 *   operation of this code, the same or another
 */
export const quoteAssignment = async (
  parts: Pick<LoanParts, 'commands' | 'inspector' | 'clock'>,
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
    lines: installments.map(({ dueDate, faceValue }, i) => ({
      ...lines[i]!,
      ...{ dueDate, faceValue, days: daysBetween(dateIssued, dueDate) },
    })),
    filesChecked: input.documents.every(({ value }) => input.files.some(({ name }) => name === value)),
    calculatedAt: receivedAt,
  };
};
