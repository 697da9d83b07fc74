import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { ReadModelFollower } from '../../../application/projecting/read-model.ts';
import { loanProjection } from '../../../projections/loan/loan-projection.ts';
import { InMemoryTables } from '../../projections/in-memory-tables.ts';
import { toActive } from '../../projections/loan/projected-events.ts';
import { deskOver } from '../../support/desk-over.ts';
import { FaultyProjectionStore } from './faulty-projection-store.ts';
import { caughtUp, projectorOf } from './running-projector.ts';
import { StoryLog, streamOf } from './story-log.ts';
import { until } from '../../support/within.ts';

const SOON = 10_000;

describe('a projector', () => {
  let log: StoryLog;
  let tables: InMemoryTables;
  const started: ReadModelFollower[] = [];
  const start = (...parameters: Parameters<typeof projectorOf>) => {
    const one = projectorOf(...parameters);
    started.push(one.projector);
    one.projector.start();
    return one;
  };

  beforeEach(() => {
    log = new StoryLog();
    tables = new InMemoryTables();
  });
  afterEach(async () => {
    for (const projector of started.splice(0)) await projector.stop();
  });

  test('takes what is in the log, says so, and goes on with what comes', async () => {
    await log.tellWhole('A');
    const { projector } = start(log, tables);
    await caughtUp(projector);
    expect(projector.status()).toEqual({
      name: 'loan',
      quarantined: 0,
      state: 'running',
      position: '7/7',
      caughtUp: true,
    });
    const revision = await log.assign('B');
    expect(await projector.waitForVersion(streamOf('B'), revision, SOON)).toBe(true);
    expect(tables.rows('progress').map(({ code, version }) => [code, version])).toEqual([
      ['A', 6],
      ['B', 0],
    ]);
  });

  test('passes lines of the desk by without a write, and stores their place with what comes next', async () => {
    await log.assign('A');
    const store = new FaultyProjectionStore(tables);
    const untilAborted = (_: number, signal: AbortSignal): Promise<void> =>
      new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    const { projector } = start(log, store, { pause: untilAborted });
    await caughtUp(projector);
    const before = store.applies;
    const desk = deskOver({ events: log });
    const look = () => desk.record({ way: 'console', name: 'Ana' }, [{ action: 'viewed' }], 'session-1');
    for (let i = 0; i < 20; i += 1) await look();
    const revision = await log.assign('B');
    expect(await projector.waitForVersion(streamOf('B'), revision, SOON)).toBe(true);
    expect(store.applies - before).toBe(1);
  });

  test('is at the end of a log that ends with lines of the desk, stores that once in a while, and goes on after a stop', async () => {
    await log.assign('A');
    const { projector } = start(log, tables);
    await caughtUp(projector);
    const place = await tables.checkpoint(loanProjection);
    const desk = deskOver({ events: log });
    const lines = (count: number) =>
      desk.record(
        { way: 'topic', name: 'Ana' },
        Array.from({ length: count }, () => ({ action: 'viewed' })),
      );
    await lines(10);
    await projector.stop();
    expect(await tables.checkpoint(loanProjection)).toBe(place);
    projector.start();
    await caughtUp(projector);
    await lines(600);
    await until(() => projector.status().position !== place, 'a place behind hundreds of lines is stored');
    const revision = await log.assign('B');
    expect(await projector.waitForVersion(streamOf('B'), revision, SOON)).toBe(true);
    expect(await tables.checkpoint(loanProjection)).toBe(await log.end());
  });

  test('answers who waits for a revision when the rows hold it, not before', async () => {
    const { projector } = start(log, tables);
    await log.assign('A');
    const waiting = [0n, 1n, 2n, 3n].map(async (revision) => {
      const applied = await projector.waitForVersion(streamOf('A'), revision, SOON);
      return [applied, Number(tables.rows('progress')[0]?.version) >= Number(revision)];
    });
    await log.tell('A', ...toActive);
    expect(await Promise.all(waiting)).toEqual([0, 1, 2, 3].map(() => [true, true]));
    expect(await projector.waitForVersion(streamOf('A'), 2n, 0)).toBe(true);
    expect(await projector.waitForVersion(streamOf('A'), 4n, 1)).toBe(false);
    expect(await projector.waitForVersion(streamOf('unknown'), 0n, 1)).toBe(false);
  });

  test('starts from its checkpoint and projects nothing twice', async () => {
    await log.tellWhole('A');
    const first = start(log, tables);
    await caughtUp(first.projector);
    await first.projector.stop();
    expect(first.projector.status()).toMatchObject({ state: 'stopped', position: '7/7' });
    await log.tellWhole('B');
    const second = start(log, tables);
    await caughtUp(second.projector);
    expect(tables.rows('progress').map(({ received_value }) => received_value)).toEqual([25_000, 25_000]);
  });

  test('moves its checkpoint over streams that it does not follow', async () => {
    await log.append('renegotiation-1', 'no_stream', [
      { id: 'event-1', type: 'other.v1', data: '{}' as never, metadata: {} as never },
    ]);
    const { projector } = start(log, tables, { projection: { ...loanProjection, ofOperationsAlone: true } });
    await caughtUp(projector);
    expect(await tables.checkpoint(loanProjection)).toBe('1/1');
  });

  test('tries again while its store is away, and says so', async () => {
    const store = new FaultyProjectionStore(tables);
    const { projector, logger } = start(log, store);
    await caughtUp(projector);
    store.away = true;
    await log.assign('A');
    await until(() => projector.status().state === 'retrying', 'it noticed');
    expect(projector.status()).toMatchObject({ caughtUp: false, lastError: 'the store is away' });
    expect(await projector.waitForVersion(streamOf('A'), 0n, 1)).toBe(false);
    store.away = false;
    expect(await projector.waitForVersion(streamOf('A'), 0n, SOON)).toBe(true);
    await caughtUp(projector);
    expect(projector.status()).toEqual({
      name: 'loan',
      quarantined: 0,
      state: 'running',
      position: '1/1',
      caughtUp: true,
    });
    expect(logger.lines[0]).toMatchObject({
      level: 'error',
      fields: { projection: 'loan', err: { message: 'the store is away' }, pauseMs: 100 },
    });
  });

  test('tries again when the log breaks off', async () => {
    await log.tellWhole('A');
    let breaks = 0;
    const breaking = {
      subscribe: (options: Parameters<StoryLog['subscribe']>[0]) =>
        (async function* () {
          for await (const message of log.subscribe(options)) {
            yield message;
            breaks += 1;
            if (breaks === 1) throw new Error('connection lost');
            if (breaks === 2) return;
          }
        })(),
    };
    const { projector, logger } = start(log, tables, { log: breaking });
    await caughtUp(projector);
    expect(logger.lines.filter(({ level }) => level === 'error')).toMatchObject([
      { fields: { err: { message: 'connection lost' } } },
      { fields: { err: { message: 'the log ended its subscription' } } },
    ]);
    expect(tables.rows('progress')).toMatchObject([{ version: 6, received_value: 25_000 }]);
  });

  test('shares a read model with another: each batch is stored by one of them', async () => {
    const both = [start(log, tables), start(log, tables)];
    for (const code of ['A', 'B', 'C', 'D']) await log.tellWhole(code);
    for (const { projector } of both)
      await until(() => projector.status().position === '28/28', 'it got there');
    expect(tables.rows('progress').map(({ received_value }) => received_value)).toEqual([
      25_000, 25_000, 25_000, 25_000,
    ]);
  });

  test('builds everything again when its read model is another one, and promises nothing of before', async () => {
    await log.tellWhole('A');
    let disturbed = false;
    const store = new FaultyProjectionStore(tables, () => (disturbed ? 'lost' : 'works'));
    const { projector } = start(log, store);
    await caughtUp(projector);
    const before = tables.rows('progress');
    await tables.empty(loanProjection);
    store.onRefusal = () => (disturbed = true);
    await log.assign('B');
    await until(() => projector.status().state === 'retrying', 'it began again');
    expect(await projector.waitForVersion(streamOf('A'), 6n, 1)).toBe(false);
    disturbed = false;
    expect(await projector.waitForVersion(streamOf('A'), 6n, SOON)).toBe(true);
    expect(await projector.waitForVersion(streamOf('B'), 0n, SOON)).toBe(true);
    expect(tables.rows('progress')[0]).toEqual(before[0]);
  });

  test('stops at once, and lets nobody wait for it', async () => {
    const { projector } = start(log, tables);
    await caughtUp(projector);
    const waiting = projector.waitForVersion(streamOf('A'), 0n, 600_000);
    await projector.stop();
    expect(await waiting).toBe(false);
    await projector.stop();
    projector.start();
    const revision = await log.assign('A');
    expect(await projector.waitForVersion(streamOf('A'), revision, SOON)).toBe(true);
  });
});
