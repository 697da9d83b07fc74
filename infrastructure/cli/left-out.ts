import { parseLoanStream } from '../../application/command-handling/operation.ts';
import type { CliServices } from './cli-services.ts';
import type { CliDependencies } from './command-line.ts';
import { inOneLine } from './terminal-text.ts';

const MOST_NAMED = 5;

/**
 * Rows of an operation in quarantine stay as they were before the event that could not be taken: a report made of them says so, on standard
 * error, so that its result keeps its form.
 */
export const warnOfLeftOut = async (
  readModel: 'loan' | 'portfolio' | 'reconciliation',
  { quarantine }: Pick<CliServices, 'quarantine'>,
  { writeError }: Pick<CliDependencies, 'writeError'>,
  concerns: (operation: { readonly applicationId: string; readonly code: string }) => boolean = () => true,
): Promise<void> => {
  const waiting = (await quarantine.list())
    .filter(({ waitsFor }) => waitsFor === readModel)
    .flatMap(({ stream }) => parseLoanStream(stream) ?? [])
    .filter(concerns);
  if (waiting.length === 0) return;
  const named = waiting.slice(0, MOST_NAMED).map(({ code }) => inOneLine(code));
  const others = waiting.length - named.length;
  const codes = `${named.join(', ')}${others > 0 ? ` and ${others} more` : ''}`;
  writeError(
    `not all is in it: ${waiting.length} operation(s) in quarantine are shown as they were before an event that could not be taken: ${codes} (receivables quarantine list)\n`,
  );
};
