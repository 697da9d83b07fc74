import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import type { PublicEvent } from '../../../application/ports/event-bus.ts';
import { busEvent, busWorld } from './bus-world.ts';
import { until } from '../within.ts';

/** Consumes an event, has nothing to do for a while, and consumes another one; prints how often a second its loop turned meanwhile. */
const [brokers = '', prefix = ''] = process.argv.slice(2);
const [SETTLES_MS, SECONDS] = [2_000, 5];
const turns = (): number => performance.nodeTiming.uvMetricsInfo.loopCount;

const world = await busWorld(brokers.split(','), prefix);
try {
  const seen: PublicEvent[] = [];
  const { bus } = await world.consumer('g', async (events) => void seen.push(...events));
  await bus.publish([busEvent('OP', 0)]);
  await until(() => seen.length === 1, 'an event');
  await delay(SETTLES_MS);
  const before = turns();
  await delay(SECONDS * 1_000);
  const perSecond = (turns() - before) / SECONDS;
  await bus.publish([busEvent('OP', 1)]);
  await until(() => seen.length === 2, 'the next event', 5_000);
  console.log(perSecond);
} finally {
  await world.close();
}
