import { loanDecider } from '../../../domain/loan/index.ts';
import type { CalendarDate } from '../../../domain/shared/calendar-date.ts';
import type { CommandHandler } from '../../command-handling/command-handler.ts';
import { UnreadableEventError } from '../../event-codec/fields.ts';
import { parseLoanStream } from '../../command-handling/operation.ts';
import type { BusinessClock } from '../../ports/clock.ts';
import type { DueInstallment } from '../due-installments.ts';
import type { Logger } from '../../ports/logger.ts';

interface Dependencies {
  readonly commands: CommandHandler;
  readonly dueBefore: (
    today: CalendarDate,
    limit: number,
    after?: DueInstallment,
  ) => Promise<readonly DueInstallment[]>;
  readonly clock: BusinessClock;
  readonly logger: Pick<Logger, 'warn'>;
}

const PAGE = 500;
/** Enough for the store to commit many operations at once, few enough to leave it to requests. */
const IN_FLIGHT = 32;

/**
 * Marks whatever fell due before today, page by page; answers how many installments it marked. Nothing needs to be remembered between two
 * sweeps: what is marked is no longer pending, and an operation that is marked twice changes once. One that cannot be marked now is left for
 * the next sweep.
 * @throws Error when no operation of a page could be marked, and not because of what is stored of them: then it is not their fault
 */
export const markOverdue = async (deps: Dependencies, signal: AbortSignal): Promise<number> => {
  const today = deps.clock.today();
  let marked = 0;
  let after: DueInstallment | undefined;
  for (;;) {
    const page = await deps.dueBefore(today, PAGE, after);
    marked += await markAll(deps, [...new Set(page.map(({ stream }) => stream))], { today, signal });
    after = page.at(-1);
    if (page.length < PAGE || signal.aborted) return marked;
  }
};

const markAll = async (
  deps: Dependencies,
  streams: readonly string[],
  { today, signal }: { readonly today: CalendarDate; readonly signal: AbortSignal },
): Promise<number> => {
  const waiting = streams.values();
  const failures: { readonly stream: string; readonly error: unknown }[] = [];
  let marked = 0;
  const work = async (): Promise<void> => {
    for (const stream of waiting) {
      if (signal.aborted) return;
      try {
        // Not `marked += await`: that reads the sum before it waits and loses what others add.
        const count = await mark(deps, stream, today);
        marked += count;
      } catch (error) {
        failures.push({ stream, error });
      }
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, work));
  const [first] = failures;
  if (!first) return marked;
  const isUnreadable = failures.every(({ error }) => error instanceof UnreadableEventError);
  if (failures.length === streams.length && !isUnreadable) throw first.error;
  deps.logger.warn(
    { failed: failures.length, stream: first.stream, err: first.error },
    'some operations could not be marked overdue; the next sweep tries again',
  );
  return marked;
};

const mark = async (
  { commands, clock }: Dependencies,
  stream: string,
  today: CalendarDate,
): Promise<number> => {
  const operation = parseLoanStream(stream);
  if (!operation) throw new Error(`${stream} is not the stream of an operation`);
  const { events } = await commands.handle({
    stream,
    applicationId: operation.applicationId,
    actor: 'scheduler',
    correlationId: `overdue-${today}`,
    decide: (state) =>
      loanDecider.decide({ type: 'MarkInstallmentsOverdue', today, now: clock.now() }, state),
  });
  return events.length;
};
