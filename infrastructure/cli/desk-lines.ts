import { EarlierReleaseError } from '../../application/event-codec/stored-formats.ts';
import type { App } from '../../application/app.ts';
import type { DeskEntry } from '../../domain/desk/line.ts';
import { StoreUnavailableError } from '../../application/ports/event-store.ts';
import { DomainError } from '../../domain/shared/domain-error.ts';
import { NotAllowedError } from './command-line.ts';
import { userOfSystem } from './options.ts';
import { patiently } from './submit-decisions.ts';

/** Writes what a command is about to print, or has changed, into the desk log. */
export const recordLines = (
  { desk }: Pick<App, 'desk'>,
  entries: readonly DeskEntry[],
  operator = userOfSystem(),
): Promise<void> => patiently(() => desk.record({ way: 'command_line', name: operator }, entries));

/** The same for what mends the log itself, which may take nothing until it is done. */
export const recordWherePossible = async (
  { desk }: Pick<App, 'desk'>,
  entries: readonly DeskEntry[],
): Promise<void> => {
  try {
    await desk.record({ way: 'command_line', name: userOfSystem() }, entries);
  } catch (error) {
    if (!(error instanceof StoreUnavailableError)) throw error;
  }
};

const reasonOf = (error: unknown): string | undefined => {
  if (error instanceof DomainError) return error.code;
  return error instanceof NotAllowedError || error instanceof EarlierReleaseError ? 'not_allowed' : undefined;
};

interface Configuring<Result> extends Omit<DeskEntry, 'action' | 'decision'> {
  readonly decision: string;
  readonly operator?: string | undefined;
  /** What the line says once it is done. */
  readonly told?: (result: Result) => Omit<DeskEntry, 'action'>;
}

/** Writes a line of what a rule refuses. */
export const tellingRefusals = async <Result>(
  services: Pick<App, 'desk'>,
  { operator, ...entry }: Omit<DeskEntry, 'action'> & Pick<Configuring<Result>, 'operator'>,
  work: () => Promise<Result>,
): Promise<Result> => {
  try {
    return await work();
  } catch (error) {
    const reason = reasonOf(error);
    if (reason !== undefined)
      await recordLines(services, [{ ...entry, action: 'refused', outcome: 'refused', reason }], operator);
    throw error;
  }
};

/** Changes a setting, and writes a line of that or of its refusal. */
export const configuring = async <Result>(
  services: Pick<App, 'desk'>,
  { told, ...entry }: Configuring<Result>,
  change: () => Promise<Result>,
): Promise<Result> => {
  const result = await tellingRefusals(services, entry, change);
  const { operator, ...named } = entry;
  await recordLines(services, [{ ...named, ...told?.(result), action: 'configured' }], operator);
  return result;
};
