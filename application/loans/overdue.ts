import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { CalendarDate } from '../../domain/shared/calendar-date.ts';
import type { Schema } from '../sql/schema.ts';
import type { SqlDatabase } from '../sql/sql-database.ts';
import { loanDecider } from '../../domain/loan/index.ts';
import type { Timestamp } from '../../domain/shared/identifiers.ts';
import type { CommandHandler } from '../command-handling/command-handler.ts';
import { parseLoanStream } from '../command-handling/operation.ts';
import { notEarlier } from '../event-codec/event-codec.ts';
import { UnreadableEventError } from '../event-codec/fields.ts';
import type { BusinessClock } from '../ports/clock.ts';
import { DamagedStoreError } from '../ports/event-store.ts';
import type { Logger } from '../ports/logger.ts';
import { businessDayOf } from '../support/business-day.ts';
import { Outage, repeatUntilAborted } from '../support/retry.ts';
import type { Pause } from '../support/retry.ts';

export interface DueInstallment {
  readonly stream: string;
  readonly code: string;
  readonly dueDate: CalendarDate;
}

/**
 * Pending installments of active operations that were due before `today`, the oldest first; `stream` is their operation's.
 * The literal repeats what the index is restricted to: with a parameter in its place no engine would use it. The index
 * ends in the table's own key, so that pages follow it without sorting.
 */
export const dueInstallments = (
  builder: Kysely<Schema>,
  today: CalendarDate,
  limit: number,
  after?: DueInstallment,
) => {
  let due = builder
    .selectFrom('installment')
    .innerJoin('loan', 'loan.id', 'installment.operation')
    .select(['loan.stream', 'installment.code', 'installment.due_date'])
    .where('installment.status', '=', sql.lit('pending'))
    .where('loan.active_at', 'is not', null)
    .where('installment.due_date', '<', today);
  if (after) {
    const operation = builder.selectFrom('loan').select('id').where('stream', '=', after.stream);
    due = due.where(
      sql<boolean>`(installment.due_date, installment.operation, installment.code) > (${after.dueDate}, (${operation}), ${after.code})`,
    );
  }
  return due
    .orderBy('installment.due_date')
    .orderBy('installment.operation')
    .orderBy('installment.code')
    .limit(limit);
};

/**
 * What the read model knows to be due before `today`, by due date, at most `limit`; those that follow `after`, which need not be there any
 * more. It may lag behind the streams, so an answer is a hint: the operation itself decides. Costs grow with what is due, not with what is
 * open.
 */
export const dueBefore = async (
  database: SqlDatabase,
  today: CalendarDate,
  limit: number,
  after?: DueInstallment,
): Promise<readonly DueInstallment[]> => {
  const rows = await database.read(dueInstallments(database.builder, today, limit, after));
  return rows.map(({ due_date: dueDate, ...row }) => ({ ...row, dueDate: dueDate as CalendarDate }));
};

interface Marking {
  readonly commands: CommandHandler;
  readonly dueBefore: (
    today: CalendarDate,
    limit: number,
    after?: DueInstallment,
  ) => Promise<readonly DueInstallment[]>;
  readonly clock: BusinessClock;
  readonly logger: Pick<Logger, 'warn'>;
}

interface Since {
  readonly today: CalendarDate;
  /** Nothing is marked as before that, although a clock may be set back a moment after the day began. */
  readonly began: Timestamp;
}

const PAGE = 500;
/** Enough for the store to commit many operations at once, few enough to leave it to requests. */
const IN_FLIGHT = 32;
/** Of one operation, however many others there are: an event, or the part of the file in which it lies. */
const UNREADABLE = [UnreadableEventError, DamagedStoreError] as const;

/**
 * Marks whatever fell due before today, page by page; answers how many installments it marked. Nothing needs to be remembered between two
 * sweeps: what is marked is no longer pending, and an operation that is marked twice changes once. One that cannot be marked now is left for
 * the next sweep.
 * @throws Error when no operation of a page could be marked, and not because of what is stored of them: then it is not their fault
 */
export const markOverdue = async (deps: Marking, signal: AbortSignal): Promise<number> => {
  const { clock } = deps;
  const since = { today: clock.today(), began: clock.now() };
  let marked = 0;
  let after: DueInstallment | undefined;
  for (;;) {
    const page = await deps.dueBefore(since.today, PAGE, after);
    marked += await markAll(deps, [...new Set(page.map(({ stream }) => stream))], { ...since, signal });
    after = page.at(-1);
    if (page.length < PAGE || signal.aborted) return marked;
  }
};

const markAll = async (
  deps: Marking,
  streams: readonly string[],
  { signal, ...since }: Since & { readonly signal: AbortSignal },
): Promise<number> => {
  const waiting = streams.values();
  const failures: { readonly stream: string; readonly error: unknown }[] = [];
  let marked = 0;
  const work = async (): Promise<void> => {
    for (const stream of waiting) {
      if (signal.aborted) return;
      try {
        // Not `marked += await`: that reads the sum before it waits and loses what others add.
        const count = await mark(deps, stream, since);
        marked += count;
      } catch (error) {
        failures.push({ stream, error });
      }
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, work));
  const [first] = failures;
  if (!first) return marked;
  const areUnreadable = failures.every(({ error }) => UNREADABLE.some((kind) => error instanceof kind));
  if (failures.length === streams.length && !areUnreadable) throw first.error;
  deps.logger.warn(
    { failed: failures.length, stream: first.stream, err: first.error },
    'some operations could not be marked overdue; the next sweep tries again',
  );
  return marked;
};

const mark = async (
  { commands, clock }: Marking,
  stream: string,
  { today, began }: Since,
): Promise<number> => {
  const operation = parseLoanStream(stream);
  if (!operation) throw new Error(`${stream} is not the stream of an operation`);
  const { events } = await commands.handle({
    stream,
    applicationId: operation.applicationId,
    actor: 'scheduler',
    correlationId: `overdue-${today}`,
    decide: (state) => {
      const now = notEarlier(clock.now(), began);
      return loanDecider.decide({ type: 'MarkInstallmentsOverdue', today, now }, state);
    },
  });
  return events.length;
};

const HOUR_MS = 3_600_000;
const BEYOND_TODAY_MS = 26 * HOUR_MS;

/** UNIX milliseconds. Searched for: where clocks change, midnight may come earlier or later, or not at all. */
export const nextDayStart = (instant: number): number => {
  const today = businessDayOf(instant);
  let [before, after] = [instant, instant + BEYOND_TODAY_MS];
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (businessDayOf(middle) > today) after = middle;
    else before = middle;
  }
  return after;
};

interface Sweeping {
  readonly markOverdue: (signal: AbortSignal) => Promise<number>;
  readonly clock: BusinessClock;
  readonly logger: Logger;
  readonly sleep: Pause;
  /** Longest time between two sweeps, in milliseconds: how late an operation that starts with a past due date may be seen. */
  readonly interval: number;
  readonly watch?: { swept(marked: number): void; sweepFailed(): void } | undefined;
}

const RETRY_MS = 1_000;

/** When a day begins and every `interval` besides. Several may run: they find the same work and do it once. */
export const sweepOverdue = async (
  { markOverdue, clock, logger, sleep, interval, watch }: Sweeping,
  signal: AbortSignal,
): Promise<void> => {
  const pauses = { firstPauseMs: RETRY_MS, longestPauseMs: RETRY_MS };
  const outage = new Outage({ logger, what: 'overdue scheduler', ...pauses });
  const atMost = (ms: number): number => {
    const now = Date.parse(clock.now());
    // At least a millisecond, so that a clock that stands still cannot turn this into a busy loop.
    return Math.min(ms, interval, Math.max(1, nextDayStart(now) - now));
  };
  const sweep = async (): Promise<number> => {
    const marked = await markOverdue(signal);
    watch?.swept(marked);
    if (marked > 0) logger.info({ marked }, 'installments became overdue');
    outage.over();
    return atMost(interval);
  };
  const afterFailure = (error: unknown): number => {
    watch?.sweepFailed();
    return atMost(outage.failed(error));
  };
  await repeatUntilAborted(sweep, afterFailure, sleep, signal);
};
