import type { OperationPlace } from '../../application/command-handling/operation.ts';
import type { FundPosition } from '../../application/portfolio/position.ts';
import type { App } from '../../application/app.ts';
import type { CliDependencies } from './command-line.ts';
import { inOneLine } from '../presenting/terminal-text.ts';

const MOST_NAMED = 5;

const codesOf = (named: readonly { readonly code: string }[], count: number): string => {
  const shown = named.slice(0, MOST_NAMED).map(({ code }) => inOneLine(code));
  return `${shown.join(', ')}${count > shown.length ? ` and ${count - shown.length} more` : ''}`;
};

/**
 * Rows of an operation in quarantine stay as they were before the event that could not be taken: a report made of them says so, on standard
 * error, so that its result keeps its form.
 */
export const warnOfLeftOut = async (
  { loans }: Pick<App, 'loans'>,
  { writeError }: Pick<CliDependencies, 'writeError'>,
  concerns: (operation: OperationPlace) => boolean = () => true,
): Promise<void> => {
  const waiting = (await loans.leftOut()).filter(concerns);
  if (waiting.length === 0) return;
  const codes = codesOf(waiting, waiting.length);
  writeError(
    `not all is in it: ${waiting.length} operation(s) in quarantine are shown as they were before an event that could not be taken: ${codes} (receivables quarantine list)\n`,
  );
};

/** No amount can say what such an operation is worth, and a sum that held a ceiling for it would be wrong without a word. */
export const warnOfUnvalued = (
  { withoutPresentValue: { operations, named } }: FundPosition,
  { writeError }: Pick<CliDependencies, 'writeError'>,
): void => {
  if (operations > 0)
    writeError(
      `not all is in it: ${operations} operation(s) are worth more than an amount can say, so no present value holds them: ${codesOf(named, operations)}\n`,
    );
};
