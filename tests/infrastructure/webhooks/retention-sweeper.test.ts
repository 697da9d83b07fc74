import { describe, expect, test } from '@jest/globals';
import type { DeliveryQueue } from '../../../application/webhooks/queue/delivery-queue.ts';
import type { Retention } from '../../../application/webhooks/queue/retain.ts';
import { RetentionSweeper } from '../../../infrastructure/webhooks/retention-sweeper.ts';
import { InMemoryLeases } from '../../support/in-memory-leases.ts';
import { RecordingLogger } from '../../support/recording-logger.ts';
import { until } from '../../support/within.ts';

const NOW = Date.parse('2026-06-20T12:00:00.000Z');

const sweeper = (cleanUp: (retention: Retention) => Promise<number>) => {
  const logger = new RecordingLogger();
  const queue = { cleanUp } as Partial<DeliveryQueue> as DeliveryQueue;
  const options = { queue, logger, now: () => NOW, everyMs: 5 };
  return { sweeper: new RetentionSweeper(options), logger };
};

test('goes on in small steps until nothing is left: delivered after 30 days, failed after 90', async () => {
  const steps: Retention[] = [];
  const left = [200, 200, 17, 0];
  await sweeper(async (retention) => {
    steps.push(retention);
    return left.shift()!;
  }).sweeper.sweep();
  expect(steps).toHaveLength(4);
  expect(steps[0]).toEqual({
    deliveredBefore: '2026-05-21T12:00:00.000Z',
    failedBefore: '2026-03-22T12:00:00.000Z',
    removedBefore: '2026-06-20T11:50:00.000Z',
    limit: 200,
  });
});

test('comes again and again, also after an error, until it is stopped', async () => {
  let calls = 0;
  const { sweeper: one, logger } = sweeper(async () => {
    if (++calls === 2) throw new Error('locked');
    return 0;
  });
  one.start();
  await until(() => calls >= 4, 'four sweeps');
  await one.stop();
  const stoppedAt = calls;
  await new Promise((resolve) => setTimeout(resolve, 30));
  expect(calls).toBe(stoppedAt);
  expect(logger.lines.map(({ level }) => level)).toEqual(['error']);
});

test('stops in the middle of a long sweep', async () => {
  let calls = 0;
  const { sweeper: one } = sweeper(async () => ++calls);
  one.start();
  await until(() => calls >= 2, 'two steps');
  await one.stop();
  expect(calls).toBeLessThan(10);
});

describe('where several processes send', () => {
  const shared = (cleanUp: () => Promise<number>, holder: string, leases: InMemoryLeases) => {
    const queue = { cleanUp } as Partial<DeliveryQueue> as DeliveryQueue;
    const lease = { leases, name: 'retention', holder };
    const logger = new RecordingLogger();
    return new RetentionSweeper({ queue, logger, now: () => NOW, lease });
  };

  test('one of them sweeps at a time, and another one when it has finished', async () => {
    const leases = new InMemoryLeases();
    const [begun, removed] = [Promise.withResolvers<void>(), Promise.withResolvers<number>()];
    const first = shared(() => (begun.resolve(), removed.promise), 'one', leases);
    let steps = 0;
    const second = shared(async () => ((steps += 1), 0), 'two', leases);
    const sweeping = first.sweep();
    await begun.promise;
    await second.sweep();
    expect(steps).toBe(0);
    removed.resolve(0);
    await sweeping;
    await second.sweep();
    expect(steps).toBe(1);
  });

  test('a sweep that fails gives its turn back', async () => {
    const leases = new InMemoryLeases();
    const failing = shared(() => Promise.reject(new Error('away')), 'one', leases);
    await expect(failing.sweep()).rejects.toThrow('away');
    expect(await leases.acquire('retention', 'two', 1_000)).toBeDefined();
  });
});
