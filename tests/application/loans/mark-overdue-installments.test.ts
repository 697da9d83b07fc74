import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { markOverdue } from '../../../application/loans/overdue.ts';
import type { DueInstallment } from '../../../application/loans/overdue.ts';
import type { CommandRequest } from '../../../application/command-handling/command-handler.ts';
import { DamagedStoreError } from '../../../application/ports/event-store.ts';
import type { JsonText } from '../../../application/ports/event-store.ts';
import { calendarDate } from '../../../domain/shared/calendar-date.ts';
import type { CalendarDate } from '../../../domain/shared/calendar-date.ts';
import type { Timestamp } from '../../../domain/shared/identifiers.ts';
import { sampleMetadata } from '../../contracts/event-store-samples.ts';
import { NOW, requestRepurchase } from '../../domain/support/loan-story.ts';
import { fixedClock } from '../../support/application-parts.ts';
import { activate, carryOut, postAssignment, storyOf, streamOf } from '../../support/post-assignment.ts';
import type { PostAssignment } from '../../support/post-assignment.ts';
import { RecordingLogger } from '../../support/recording-logger.ts';

/** A read model that is told what it knows; like the real one, it may be behind. */
class KnownDue {
  readonly rows: DueInstallment[] = [];
  pages = 0;
  async dueBefore(today: CalendarDate, limit: number, after?: DueInstallment) {
    this.pages++;
    const key = ({ dueDate, stream, code }: DueInstallment) => `${dueDate} ${stream} ${code}`;
    return this.rows
      .filter((row) => row.dueDate < today && (!after || key(row) > key(after)))
      .sort((a, b) => (key(a) < key(b) ? -1 : 1))
      .slice(0, limit);
  }
}

const started = async (codes: readonly string[], today = '2026-04-16') => {
  const process = postAssignment();
  const due = new KnownDue();
  for (const code of codes) {
    await activate(process, { code });
    for (const [installment, dueDate] of [
      ['001', '2026-02-15'],
      ['002', '2026-03-15'],
      ['003', '2026-04-15'],
      ['004', '2026-05-15'],
    ] as const)
      due.rows.push({ stream: streamOf(code), code: installment, dueDate: calendarDate(dueDate) });
  }
  const logger = new RecordingLogger();
  const sweep = (signal = new AbortController().signal, by: PostAssignment = process) =>
    markOverdue(
      {
        commands: by.commands,
        dueBefore: (...page) => due.dueBefore(...page),
        clock: fixedClock(NOW, today as CalendarDate),
        logger,
      },
      signal,
    );
  return { process, due, logger, sweep };
};
const overdueOf = async (process: PostAssignment, code: string): Promise<readonly string[]> =>
  (await storyOf(process, code)).flatMap((event) =>
    event.type === 'InstallmentBecameOverdue' ? [event.installmentCode] : [],
  );

describe('mark overdue installments', () => {
  test('not as before the sweep began, where the clock is set back right after midnight', async () => {
    const { process, due, logger } = await started(['A']);
    const now = () =>
      (due.pages === 0 ? '2026-04-16T03:00:00.001Z' : '2026-04-16T02:59:59.990Z') as Timestamp;
    const clock = { now, today: () => calendarDate('2026-04-16') };
    const { commands } = process;
    const dueBefore = due.dueBefore.bind(due);
    await markOverdue({ commands, dueBefore, clock, logger }, new AbortController().signal);
    const marks = (await storyOf(process, 'A')).filter(({ type }) => type === 'InstallmentBecameOverdue');
    expect(marks).toHaveLength(3);
    for (const one of marks) expect(one).toMatchObject({ recordedAt: '2026-04-16T03:00:00.001Z' });
  });

  test('everything due before today, in one append an operation, by the scheduler', async () => {
    const { process, sweep } = await started(['A', 'B']);
    expect(await sweep()).toBe(6);
    for (const code of ['A', 'B']) expect(await overdueOf(process, code)).toEqual(['001', '002', '003']);
    const { events } = await process.store.read(streamOf('A'));
    expect(events.at(-1)?.metadata).toMatchObject({
      actor: 'scheduler',
      applicationId: 'app-1',
      correlationId: 'overdue-2026-04-16',
    });
  });

  test.each([
    ['2026-02-15', []],
    ['2026-02-16', ['001']],
  ])('an installment due on 2026-02-15 on %s: %j', async (today, expected) => {
    const { process, sweep } = await started(['A'], today);
    await sweep();
    expect(await overdueOf(process, 'A')).toEqual(expected);
  });

  test('a second sweep over the same answer, also of another process at once, changes nothing', async () => {
    const { process, sweep } = await started(['A', 'B', 'C']);
    const other = postAssignment({ store: process.store });
    const counts = await Promise.all([sweep(), sweep(undefined, other), sweep()]);
    expect(counts.reduce((a, b) => a + b, 0)).toBe(9);
    for (const code of ['A', 'B', 'C']) expect(await overdueOf(process, code)).toEqual(['001', '002', '003']);
    expect(await sweep()).toBe(0);
  });

  test('days of standstill are caught up in one sweep, however many pages they fill', async () => {
    const codes = Array.from({ length: 180 }, (_, i) => `L${i}`);
    const { due, sweep } = await started(codes);
    expect(await sweep()).toBe(540);
    expect(due.pages).toBe(2);
  });

  test('what is paid or frozen meanwhile stays as it is, whatever the read model still thinks', async () => {
    const { process, sweep } = await started(['A']);
    await carryOut(process, requestRepurchase('repurchase'), 'A');
    expect(await sweep()).toBe(0);
    expect(await overdueOf(process, 'A')).toEqual([]);
  });

  test('one operation that fails does not keep the others; it is logged and left for the next sweep', async () => {
    const { process, due, logger, sweep } = await started(['A', 'B']);
    due.rows.push({ stream: 'not-a-loan', code: '001', dueDate: calendarDate('2026-01-01') });
    expect(await sweep()).toBe(6);
    expect(await overdueOf(process, 'B')).toHaveLength(3);
    expect(JSON.stringify(logger)).toContain('not-a-loan');
  });

  test('a whole page of what cannot be read does not keep the next page, and is no failure of the sweep', async () => {
    const { process, due, logger, sweep } = await started(['A', 'B']);
    const unreadable = {
      id: randomUUID(),
      type: 'loan.approved.v1',
      data: '{' as JsonText,
      metadata: sampleMetadata(),
    };
    await process.store.append(streamOf('A'), await process.store.head(streamOf('A')), [unreadable]);
    for (let n = 0; n < 500; n++)
      due.rows.push({ stream: streamOf('A'), code: `0${n}`, dueDate: calendarDate('2026-01-01') });
    expect(await sweep()).toBe(3);
    expect(await overdueOf(process, 'B')).toHaveLength(3);
    expect(JSON.stringify(logger)).toContain('some operations could not be marked overdue');
  });

  test('a page of operations in a damaged part of the log does not keep the next page either', async () => {
    const { process, due, sweep } = await started(['A', 'B']);
    for (let n = 0; n < 500; n++)
      due.rows.push({ stream: streamOf('A'), code: `0${n}`, dueDate: calendarDate('2026-01-01') });
    const commands = {
      handle: async (request: CommandRequest) => {
        if (request.stream === streamOf('A')) throw new DamagedStoreError('events.db is damaged');
        return process.commands.handle(request);
      },
    } as PostAssignment['commands'];
    expect(await sweep(new AbortController().signal, { ...process, commands })).toBe(3);
    expect(await overdueOf(process, 'B')).toHaveLength(3);
  });

  test('when nothing works it says so', async () => {
    const { due, sweep } = await started([]);
    due.rows.push({ stream: 'not-a-loan', code: '001', dueDate: calendarDate('2026-01-01') });
    await expect(sweep()).rejects.toThrow('not-a-loan');
  });

  test('ends early when it is told to stop', async () => {
    const { sweep } = await started(['A']);
    expect(await sweep(AbortSignal.abort())).toBe(0);
  });
});
