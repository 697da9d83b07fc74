import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { PublicEvent } from '../../../application/ports/event-bus.ts';
import { busEvent, busWorld, until } from '../../support/kafka/bus-world.ts';
import { testKafka } from '../../support/kafka/test-kafka.ts';
import type { TestKafka } from '../../support/kafka/test-kafka.ts';

let kafka: TestKafka;
beforeAll(async () => void (kafka = await testKafka()));
afterAll(() => kafka.close());

const turns = (): number => performance.nodeTiming.uvMetricsInfo.loopCount;

/** The library's own timers would turn the loop a thousand times a second. */
test('a consumer without work lets the process sleep, and wakes up for the next event', async () => {
  const world = await busWorld(kafka.brokers, kafka.prefix());
  try {
    const seen: PublicEvent[] = [];
    const { bus } = await world.consumer('g', async (events) => void seen.push(...events));
    await bus.publish([busEvent('OP', 0)]);
    await until(() => seen.length === 1, 'an event');
    await delay(2_000);
    const before = turns();
    await delay(5_000);
    expect((turns() - before) / 5).toBeLessThan(200);
    await bus.publish([busEvent('OP', 1)]);
    await until(() => seen.length === 2, 'the next event', 5_000);
  } finally {
    await world.close();
  }
});
