import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { loanStream, ownerOf } from '../../../application/command-handling/operation.ts';
import type { JsonText, RecordedEvent } from '../../../application/ports/event-store.ts';
import type { ReadModelFollower } from '../../../application/projecting/read-model.ts';
import { waitTooMany } from '../../../application/processors/processor.ts';
import { QuarantinedOperations } from '../../../application/maintenance/quarantine/quarantined-operations.ts';
import { loanProjection } from '../../../projections/loan/loan-projection.ts';
import type { ProjectedEvent, Projection } from '../../../projections/projection.ts';
import { sampleMetadata } from '../../contracts/event-store-samples.ts';
import { InMemoryTables } from '../../projections/in-memory-tables.ts';
import { second, settled } from '../../projections/loan/projected-events.ts';
import { caughtUp, projectorOf } from './running-projector.ts';
import { StoryLog, decode, streamOf } from './story-log.ts';
import { until } from '../../support/within.ts';

const SOON = 10_000;
const numberOf = (position: string): number => parseInt(position, 10);
const halted = (projector: ReadModelFollower): Promise<void> =>
  until(() => projector.status().state === 'halted', 'the projector halted');

describe('an event that cannot be projected', () => {
  let log: StoryLog;
  let tables: InMemoryTables;
  const started: ReadModelFollower[] = [];
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

  const unreadable =
    (readable: () => boolean) =>
    (recorded: RecordedEvent): ProjectedEvent => {
      const bad = recorded.stream === streamOf('B') && recorded.revision === 3n;
      if (bad && !readable()) throw new Error('unknown field');
      return decode(recorded);
    };
  const versions = () => tables.rows('progress').map(({ code, version }) => [code, version]);
  const release = (decoding: typeof decode) =>
    new QuarantinedOperations({
      projections: [loanProjection],
      store: tables,
      relay: { list: async () => [], waits: async () => false, release: async () => false },
      events: log,
      decode: decoding,
      order: { compare: (one, other) => numberOf(one) - numberOf(other) },
      renegotiation: { resolve: async () => undefined },
      actors: [],
    });

  test('lets its operation wait right before it, with a log line that names it; the others go on', async () => {
    const decodeUntilB3 = unreadable(() => false);
    const { projector, logger } = start(log, tables, { decode: decodeUntilB3, batchSize: 5 });
    await caughtUp(projector);
    await log.tellWhole('C');
    await log.tell('B', settled('P1'));
    await until(() => projector.status().position === '22/22', 'the end is projected');
    expect(versions()).toEqual([
      ['A', 6],
      ['B', 2],
      ['C', 6],
    ]);
    expect(projector.status()).toEqual({
      name: 'loan',
      state: 'running',
      position: '22/22',
      caughtUp: true,
      quarantined: 1,
    });
    expect(logger.lines.filter(({ level }) => level === 'error')).toMatchObject([
      {
        fields: {
          projection: 'loan',
          error: 'unknown field',
          event: { stream: streamOf('B'), revision: '3', type: 'loan.disbursed.v1', position: '11/11' },
        },
      },
    ]);
    expect(await projector.waitForVersion(streamOf('B'), 3n, SOON)).toBe(false);
    expect(await projector.waitForVersion(streamOf('C'), 6n, SOON)).toBe(true);
    expect(tables.rows('quarantined_operation')).toEqual([
      {
        ...{ projection: 'loan', stream: streamOf('B'), revision: 3, waiting: 5 },
        ...{ event_type: 'loan.disbursed.v1', position: '11/11', reason: 'unknown field' },
      },
    ]);
  });

  test('once it can be read, its operation is released: nothing is lost, nothing comes twice, and later events follow', async () => {
    let readable = false;
    const decoding = unreadable(() => readable);
    const { projector } = start(log, tables, { decode: decoding });
    await caughtUp(projector);
    expect(await release(decoding).release(streamOf('B'))).toEqual([
      { waitsFor: 'loan', outcome: 'still_waits', reason: 'event 3 (loan.disbursed.v1): unknown field' },
    ]);
    readable = true;
    await log.tellWhole('C');
    expect(await release(decoding).release(streamOf('B'))).toEqual([
      { waitsFor: 'loan', outcome: 'released' },
    ]);
    expect(await release(decoding).release(streamOf('B'))).toEqual([]);
    await until(() => projector.status().position === '21/21', 'the end is projected');
    // The projector had it in quarantine; the next event of the operation shows it that it is released.
    await log.tell('B', { type: 'BorrowerForgotten', forgottenAt: second(200) });
    await until(() => projector.status().position === '22/22', 'the end is projected');
    expect(versions()).toEqual([
      ['A', 6],
      ['B', 7],
      ['C', 6],
    ]);
    expect(tables.rows('progress').map(({ received_value }) => received_value)).toEqual([
      25_000, 25_000, 25_000,
    ]);
    expect(projector.status().quarantined).toBe(0);
  });

  const poison = async (applicationId: string, operations: number): Promise<void> => {
    const event = { type: 'loan.received.v9', data: '{}' as JsonText, metadata: sampleMetadata() };
    for (let n = 0; n < operations; n++)
      await log.append(loanStream(applicationId, `OP-${n}`), 'no_stream', [{ ...event, id: randomUUID() }]);
  };

  test('beside a hundred operations of ten applications means that the program is wrong: the projection halts', async () => {
    for (let n = 0; n < 10; n++) await poison(`other-${n}`, 10);
    await poison('last', 3);
    const { projector, logger } = start(log, tables, { batchSize: 100 });
    await halted(projector);
    expect(tables.rows('quarantined_operation')).toHaveLength(100);
    expect(logger.lines.at(-1)).toMatchObject({ level: 'error', message: 'projection halted by an event' });
    expect(projector.status().lastError).toMatch(
      /so many wait in quarantine already .* deploy one that takes/,
    );
  });

  test('so it does beside ten thousand of whatever applications', () => {
    const waiting = (count: number) => Array.from({ length: count }, (_, n) => loanStream('a', `OP-${n}`));
    expect([9_999, 10_000].map((count) => waitTooMany(waiting(count), ownerOf))).toEqual([false, true]);
  });

  test('of however many operations of a few applications leaves the others alone', async () => {
    for (const other of ['other-1', 'other-2', 'other-3']) await poison(other, 60);
    await log.tellWhole('C');
    const { projector } = start(log, tables, { batchSize: 100 });
    await caughtUp(projector);
    expect(projector.status().quarantined).toBe(180);
    expect(versions().map(([code]) => code)).toEqual(['A', 'B', 'C']);
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
    await caughtUp(other.projector);
    await caughtUp(projector);
    expect(other.projector.status().quarantined).toBe(2);
    expect(tables.rows('progress')).toHaveLength(2);
  });

  test('of a stream that is neither an operation nor a renegotiation halts its projection; it is tried again after stop and start', async () => {
    let patched = false;
    await log.append('something-1', 'no_stream', [
      { id: randomUUID(), type: 'something.v9', data: '{}' as JsonText, metadata: sampleMetadata() },
    ]);
    const decodeWhenPatched = (recorded: RecordedEvent): ProjectedEvent | undefined =>
      patched && recorded.stream === 'something-1' ? undefined : decode(recorded);
    const { projector } = start(log, tables, { decode: decodeWhenPatched });
    await halted(projector);
    patched = true;
    await projector.stop();
    projector.start();
    await caughtUp(projector);
    expect(tables.rows('progress')).toMatchObject([{ received_value: 25_000 }, { received_value: 25_000 }]);
  });

  test('is found when the store refuses the batch that holds it', async () => {
    await log.tell('A', settled('P1'));
    await log.assign('A');
    await log.tellWhole('C');
    const { projector } = start(log, tables, { batchSize: 100 });
    await caughtUp(projector);
    expect(tables.rows('quarantined_operation')).toMatchObject([
      { stream: streamOf('A'), revision: 8, event_type: 'loan.received.v1' },
    ]);
    expect(versions()).toEqual([
      ['A', 7],
      ['B', 6],
      ['C', 6],
    ]);
  });

  test('that the store refuses in a batch with one that cannot be read: each operation waits from its own event on', async () => {
    const [last] = [...(await log.read(streamOf('B'))).events].reverse();
    await log.tell('B', settled('P1'));
    await log.assign('A');
    await log.tell('B', settled('P2'));
    const late = (recorded: RecordedEvent): ProjectedEvent => {
      if (recorded.stream === streamOf('B') && recorded.revision === last!.revision + 2n)
        throw new Error('unknown field');
      return decode(recorded);
    };
    const { projector } = start(log, tables, { decode: late, batchSize: 100 });
    await caughtUp(projector);
    expect(tables.rows('quarantined_operation')).toMatchObject([
      { stream: streamOf('A'), revision: 7, waiting: 1 },
      { stream: streamOf('B'), revision: 8, waiting: 1 },
    ]);
    expect(versions()).toEqual([
      ['A', 6],
      ['B', 7],
    ]);
  });
});
