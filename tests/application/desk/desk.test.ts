import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { loanStream } from '../../../application/command-handling/operation.ts';
import { DESK_DAYS_STREAM } from '../../../application/desk/desk-streams.ts';
import {
  CHAIN_START,
  chainEvents,
  findBrokenLink,
  metadataOf,
} from '../../../application/event-codec/event-codec.ts';
import { OutcomeUnknownError, StoreUnavailableError } from '../../../application/ports/event-store.ts';
import type { EventStore, JsonText, RecordedEvent } from '../../../application/ports/event-store.ts';
import { queryBuilder } from '../../../application/sql/engine.ts';
import type { DeskEntry, DeskVisitor } from '../../../domain/desk/line.ts';
import { sampleMetadata } from '../../contracts/event-store-samples.ts';
import { BESIDE_EARLIER } from '../../support/application-parts.ts';
import { deskOver, linesOf } from '../../support/desk-over.ts';
import { InMemoryEventStore } from '../../support/in-memory-event-store.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { RecordingLogger } from '../../support/recording-logger.ts';

const ACME = '0b0e4a3c-6f57-4d0e-8a3b-1d2c3b4a5f60';
const FUND = '1b0e4a3c-6f57-4d0e-8a3b-1d2c3b4a5f61';
const SESSION = '2b0e4a3c-6f57-4d0e-8a3b-1d2c3b4a5f62';
const ana: DeskVisitor = { way: 'console', issuer: 'https://login.example', subject: 'ana', name: 'Ana' };
const shell: DeskVisitor = { way: 'command_line', name: 'bruno' };
const viewed: DeskEntry = { action: 'viewed' };

let events: InMemoryEventStore;
let clock: ManualClock;
beforeEach(() => {
  events = new InMemoryEventStore();
  clock = new ManualClock('2026-11-25T12:00:00.000Z');
});
const readModel = () => ({ builder: queryBuilder('sqlite') });
const desk = (parts: Parameters<typeof deskOver>[0] = {}) => deskOver({ events, clock, ...parts });

const moveTo = (instant: string): void => clock.advance(Date.parse(instant) - Date.parse(clock.now()));

/** An operation that the log has. */
const assigned = async (code: string) => {
  const stream = loanStream(ACME, code);
  const event = {
    id: `event of ${code}`,
    type: 'loan.received.v1',
    data: '{}' as JsonText,
    metadata: sampleMetadata(),
  };
  await events.append(stream, 'no_stream', chainEvents(CHAIN_START, stream, [event]));
};
const streams = async (): Promise<readonly string[]> => {
  const named = new Set<string>();
  for await (const message of events.subscribe({ from: 'start', signal: AbortSignal.timeout(60_000) })) {
    if (message.kind === 'caught_up') break;
    if (message.kind === 'events') for (const { stream } of message.events) named.add(stream);
  }
  return [...named].sort();
};

describe('writing', () => {
  test('a session has a stream, the command line and the topic one a day, each chained', async () => {
    const one = desk();
    await one.record(ana, [{ action: 'signed_in' }], SESSION);
    await one.record(ana, [viewed, viewed], SESSION);
    await one.record(shell, [viewed]);
    moveTo('2026-11-26T12:00:00.000Z');
    await one.record(shell, [viewed]);
    await one.record({ way: 'topic', name: 'administrator' }, [viewed]);
    const named = await streams();
    expect(named).toEqual([
      ...[`desk-${SESSION}`, 'desk-command_line-2026-11-25', 'desk-command_line-2026-11-26'],
      ...['desk-days', 'desk-topic-2026-11-26'],
    ]);
    for (const stream of named) expect(findBrokenLink(stream, (await events.read(stream)).events)).toBe(-1);
    expect((await linesOf(one)).map(({ stream, action, name }) => [stream, action, name])).toEqual([
      [`desk-${SESSION}`, 'signed_in', 'Ana'],
      [`desk-${SESSION}`, 'viewed', 'Ana'],
      [`desk-${SESSION}`, 'viewed', 'Ana'],
      ['desk-command_line-2026-11-25', 'viewed', 'bruno'],
      ['desk-command_line-2026-11-26', 'viewed', 'bruno'],
      ['desk-topic-2026-11-26', 'viewed', 'administrator'],
    ]);
  });

  test('many at once in two processes are all there, one after another, and the day is named before them', async () => {
    const processes = [desk(), desk()];
    await Promise.all(
      Array.from({ length: 60 }, (_, count) => processes[count % 2]!.record(shell, [{ ...viewed, count }])),
    );
    const stream = 'desk-command_line-2026-11-25';
    const written = (await events.read(stream)).events;
    expect(findBrokenLink(stream, written)).toBe(-1);
    const counts = (await linesOf(desk())).map(({ count }) => count!);
    expect(counts.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 60 }, (_, i) => i));
    // Within one process they stand in the order in which they were handed over.
    for (const half of [0, 1]) {
      const own = counts.filter((count) => count % 2 === half);
      expect(own).toEqual(own.toSorted((a, b) => a - b));
    }
  });

  test('goes on behind a line whose metadata was written over', async () => {
    await desk().record(shell, [viewed]);
    const written = events.read.bind(events);
    jest.spyOn(events, 'read').mockImplementation(async (...asked) => {
      const found = await written(...asked);
      const damaged = (one: RecordedEvent): boolean => one.stream !== DESK_DAYS_STREAM && one.revision === 0n;
      const metadata = metadataOf('written over');
      return { ...found, events: found.events.map((one) => (damaged(one) ? { ...one, metadata } : one)) };
    });
    await desk().record(shell, [{ action: 'refused', reason: 'operation_invalid_state' }]);
    expect((await linesOf(desk())).map(({ action }) => action)).toEqual(['refused']);
  });

  test('goes on behind the clock of another process', async () => {
    await desk({ clock: new ManualClock('2026-11-25T12:00:05.000Z') }).record(shell, [viewed]);
    await desk().record(shell, [viewed]);
    expect((await linesOf(desk())).map(({ at }) => at)).toEqual(Array(2).fill('2026-11-25T12:00:05.000Z'));
  });

  test('names operations that exist, with the fund that the read model shows, and none that were only typed', async () => {
    await assigned('OP-1');
    await assigned('52998224725');
    const rows = [{ stream: loanStream(ACME, 'OP-1'), fund_id: FUND }];
    const one = desk({ readModel: { ...readModel(), read: () => Promise.resolve(rows as never) } });
    await one.record(shell, [
      { ...viewed, applicationId: ACME, code: 'OP-1' },
      { ...viewed, applicationId: ACME, code: '52998224725' },
      { action: 'refused', outcome: 'refused', applicationId: ACME, code: '11144477735' },
      { action: 'refused', outcome: 'refused', applicationId: 'Joana Prado', code: 'Joana Prado' },
      { action: 'refused', outcome: 'refused', applicationId: '', code: 'x'.repeat(100_000) },
    ]);
    expect(
      (await linesOf(one)).map(({ applicationId, code, fundId }) => [applicationId, code, fundId]),
    ).toEqual([
      [ACME, 'OP-1', FUND],
      [ACME, '52998224725', undefined],
      [ACME, undefined, undefined],
      [undefined, undefined, undefined],
      [undefined, undefined, undefined],
    ]);
  });

  test('does without the read model where that is away', async () => {
    await assigned('OP-1');
    const read = () => Promise.reject(new StoreUnavailableError('away'));
    await desk({ readModel: { ...readModel(), read } }).record(shell, [
      { ...viewed, applicationId: ACME, code: 'OP-1' },
    ]);
    expect(await linesOf(desk())).toMatchObject([{ code: 'OP-1' }]);
  });

  test('hundreds of lines are several appends', async () => {
    await desk().record(
      shell,
      Array.from({ length: 450 }, (_, count) => ({ ...viewed, count })),
    );
    expect((await linesOf(desk())).map(({ count }) => count)).toEqual(
      Array.from({ length: 450 }, (_, i) => i),
    );
  });

  test('is repeated where its outcome is unknown, and stored once', async () => {
    let failures = 2;
    const shaky: Pick<EventStore, 'read' | 'head' | 'append'> = {
      read: (...read) => events.read(...read),
      head: (stream) => events.head(stream),
      append: async (...append) => {
        const result = await events.append(...append);
        if (failures-- > 0) throw new OutcomeUnknownError('no answer');
        return result;
      },
    };
    await desk({ events: shaky }).record(shell, [viewed]);
    expect(await linesOf(desk())).toHaveLength(1);
  });

  test('fails where the store is away, and works again with it', async () => {
    let away = true;
    const one = desk({
      events: {
        read: (...read) => events.read(...read),
        head: (stream) => events.head(stream),
        append: (...append) =>
          away ? Promise.reject(new StoreUnavailableError('away')) : events.append(...append),
      },
    });
    await expect(one.record(ana, [viewed], SESSION)).rejects.toThrow(StoreUnavailableError);
    away = false;
    await one.record(ana, [viewed], SESSION);
    expect(await linesOf(one)).toHaveLength(1);
  });

  test('of one session that hangs holds up no other one', async () => {
    const hanging = Promise.withResolvers<never>();
    const one = desk({
      events: {
        read: (...read) => events.read(...read),
        head: (stream) => events.head(stream),
        append: (stream, ...append) =>
          stream === `desk-${SESSION}` ? hanging.promise : events.append(stream, ...append),
      },
    });
    const flood = Array.from({ length: 100 }, () => one.record(ana, [viewed], SESSION));
    await one.record(ana, [viewed], 'another-session');
    await one.record(shell, [viewed]);
    expect(await linesOf(one)).toHaveLength(2);
    hanging.reject(new StoreUnavailableError('away'));
    const ended = await Promise.allSettled(flood);
    expect(ended.filter(({ status }) => status === 'fulfilled')).toEqual([]);
  });

  test('stores nothing while a release may run that cannot read it', async () => {
    await desk({ formats: BESIDE_EARLIER }).record(shell, [viewed]);
    await desk().record(shell, []);
    expect([await streams(), await linesOf(desk())]).toEqual([[], []]);
  });

  test('refuses an id of a session that is no name of a stream', async () => {
    await expect(desk().record(ana, [viewed], 'a b/../c')).rejects.toThrow(RangeError);
  });
});

describe('reading', () => {
  beforeEach(async () => {
    await assigned('OP-1');
    const one = desk();
    await one.record(ana, [{ ...viewed, count: 1 }], SESSION);
    clock.advance(1);
    await one.record(shell, [{ ...viewed, count: 2, applicationId: ACME, code: 'OP-1' }]);
    // The next day in Sao Paulo begins at 03:00.
    moveTo('2026-11-26T02:59:59.000Z');
    await one.record(ana, [{ ...viewed, count: 3, fundId: FUND }], SESSION);
    moveTo('2026-11-26T12:00:00.000Z');
    await one.record({ ...ana, subject: 'eva', name: 'Eva' }, [{ ...viewed, count: 4 }], 'session-of-eva');
    clock.advance(1);
    await one.record(ana, [{ ...viewed, count: 5 }], SESSION);
  });
  const counts = async (query: Parameters<typeof linesOf>[1]) =>
    (await linesOf(desk(), query)).map(({ count }) => count);

  test.each([
    ['everything', {}, [1, 2, 3, 4, 5]],
    ['the newest first', { newestFirst: true }, [5, 4, 3, 2, 1]],
    ['since an instant', { since: '2026-11-26T02:59:59.000Z' }, [3, 4, 5]],
    ['since a later one', { since: '2026-11-27T00:00:00.000Z' }, []],
    ['of a person', { subject: 'ana' }, [1, 3, 5]],
    ['about a fund', { fundId: FUND }, [3]],
    ['about an operation', { code: 'OP-1' }, [2]],
    ['about none', { code: 'OP-1', subject: 'ana' }, []],
  ])('%s', async (_, query, expected) => {
    expect(await counts(query)).toEqual(expected);
  });

  test('page by page shows each line once', async () => {
    const all = await linesOf(desk(), { newestFirst: true });
    const seen: string[] = [];
    for (let before: string | undefined; ;) {
      const [line] = await linesOf(desk(), { newestFirst: true, ...(before && { before }) });
      if (!line) break;
      seen.push((before = line.place));
    }
    expect(seen).toEqual(all.map(({ place }) => place));
  });

  test('asks for the streams of the days that are wanted alone', async () => {
    const read: string[] = [];
    const one = desk({
      events: {
        append: (...append) => events.append(...append),
        head: (stream) => events.head(stream),
        read: (stream, ...more) => {
          read.push(stream);
          return events.read(stream, ...more);
        },
      },
    });
    await linesOf(one, { since: '2026-11-26T12:00:00.000Z' });
    expect(read.toSorted()).toEqual([`desk-${SESSION}`, DESK_DAYS_STREAM, 'desk-session-of-eva'].toSorted());
  });

  test('goes on behind a line that this version cannot read, and says so', async () => {
    const stream = `desk-${SESSION}`;
    const { events: before, revision } = await events.read(stream);
    const newer = {
      id: 'newer',
      type: 'desk.line_written.v9',
      data: before[0]!.data,
      metadata: before[0]!.metadata,
    };
    await events.append(stream, revision, chainEvents(before.at(-1)!.metadata.hash, stream, [newer]));
    const logger = new RecordingLogger();
    expect(await linesOf(desk({ logger }), { subject: 'ana' })).toHaveLength(3);
    expect(JSON.stringify(logger.lines)).toContain('a line of the desk log cannot be read');
  });
});
