import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { RecordedEvent } from '../../../application/ports/event-store.ts';
import type { ProjectedEvent, Projection } from '../../../projections/engine/projection.ts';
import { InMemoryTables } from '../in-memory-tables.ts';
import { settled } from '../loan/projected-events.ts';
import { caughtUp, projectorOf } from './running-projector.ts';
import type { LoanProjector } from './running-projector.ts';
import { StoryLog, decode, streamOf, until } from './story-log.ts';

const SOON = 10_000;
const halted = (projector: LoanProjector): Promise<void> =>
  until(() => projector.status().state === 'halted', 'the projector halted');

describe('an event that cannot be projected', () => {
  let log: StoryLog;
  let tables: InMemoryTables;
  const started: LoanProjector[] = [];
  const start = (...parameters: Parameters<typeof projectorOf>) => {
    const one = projectorOf(...parameters);
    started.push(one.projector);
    one.projector.start();
    return one;
  };

  beforeEach(async () => {
    log = new StoryLog();
    tables = new InMemoryTables();
    await log.tellWhole('A');
    await log.tellWhole('B');
  });
  afterEach(async () => {
    for (const projector of started.splice(0)) await projector.stop();
  });

  test('halts its projection right before it, with a log line that names it', async () => {
    const decodeUntilB3 = (recorded: RecordedEvent): ProjectedEvent => {
      if (recorded.stream === streamOf('B') && recorded.revision === 3n) throw new Error('unknown field');
      return decode(recorded);
    };
    const { projector, logger } = start(log, tables, { decode: decodeUntilB3, batchSize: 100 });
    await halted(projector);
    expect(tables.rows('loan').map(({ code, version }) => [code, version])).toEqual([
      ['A', 6],
      ['B', 2],
    ]);
    const reason = `event 3 of ${streamOf('B')} (loan.disbursed.v1) cannot be projected: unknown field`;
    expect(projector.status()).toEqual({
      projection: 'loan',
      state: 'halted',
      position: '@10',
      caughtUp: false,
      lastError: reason,
    });
    expect(logger.lines).toHaveLength(1);
    expect(logger.lines[0]).toMatchObject({
      level: 'error',
      fields: {
        projection: 'loan',
        error: reason,
        event: { stream: streamOf('B'), revision: '3', type: 'loan.disbursed.v1', position: '@11' },
      },
    });
    expect(await projector.waitForVersion(streamOf('B'), 2n, SOON)).toBe(true);
    expect(await projector.waitForVersion(streamOf('B'), 3n, SOON)).toBe(false);
  });

  test('leaves other projections alone', async () => {
    const broken: Projection = {
      name: 'broken',
      version: 1,
      tables: [],
      project: () => {
        throw new Error('not this one');
      },
    };
    const other = start(log, tables, { projection: broken });
    const { projector } = start(log, tables);
    await halted(other.projector);
    await caughtUp(projector);
    expect(tables.rows('loan')).toHaveLength(2);
  });

  test('is tried again after stop and start', async () => {
    let patched = false;
    const decodeWhenPatched = (recorded: RecordedEvent): ProjectedEvent => {
      if (!patched && recorded.revision === 5n) throw new Error('unknown field');
      return decode(recorded);
    };
    const { projector } = start(log, tables, { decode: decodeWhenPatched });
    await halted(projector);
    patched = true;
    await projector.stop();
    projector.start();
    await caughtUp(projector);
    expect(tables.rows('loan')).toMatchObject([{ received_value: 25_000 }, { received_value: 25_000 }]);
  });

  test('is found when the store refuses the batch that holds it', async () => {
    await log.tell('A', settled('P1'));
    await log.assign('A');
    await log.tellWhole('C');
    const { projector } = start(log, tables, { batchSize: 100 });
    await halted(projector);
    expect(projector.status().lastError).toContain(`event 8 of ${streamOf('A')} (loan.received.v1)`);
    expect(tables.rows('loan').map(({ code, version }) => [code, version])).toEqual([
      ['A', 7],
      ['B', 6],
    ]);
  });
});
