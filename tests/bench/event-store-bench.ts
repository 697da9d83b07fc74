/**
 * Single-event appends of about 600 bytes, through the store's threads and, in the same run, committed on the main thread.
 * `node tests/bench/event-store-bench.ts [seconds per measurement]`
 */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { EventToAppend, JsonText } from '../../application/ports/event-store.ts';
import { EventLogWriter, encodeAppend } from '../../infrastructure/sqlite/event-log/event-log-writer.ts';
import { openEventLog } from '../../infrastructure/sqlite/event-log/event-log-threads.ts';
import { SqliteEventStore } from '../../infrastructure/sqlite/event-log/sqlite-event-store.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

type Append = (stream: string, event: EventToAppend) => Promise<unknown>;

interface Measurement {
  readonly variant: string;
  readonly writers: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly mainThreadCpu: string;
  readonly loopDelayP99Ms: number;
  readonly loopDelayMaxMs: number;
}

const seconds = Number(process.argv[2] ?? 3);
const payload = JSON.stringify({ code: 'x', note: 'n'.repeat(230) }) as JsonText;

const newEvent = (): EventToAppend => ({
  id: randomUUID(),
  type: 'installment.settled.v1',
  data: payload,
  metadata: {
    correlationId: randomUUID(),
    causationId: randomUUID(),
    actor: 'originator-1',
    applicationId: 'application-1',
    recordedAt: '2026-01-15T12:00:00.000Z',
    hash: '9f'.repeat(32),
  },
});

const percentile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;

const round = (value: number): number => Math.round(value * 100) / 100;

const measure = async (variant: string, writers: number, append: Append): Promise<Measurement> => {
  const latencies: number[] = [];
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const cpuBefore = process.threadCpuUsage();
  const start = performance.now();
  const end = start + seconds * 1_000;
  const write = async (): Promise<void> => {
    while (performance.now() < end) {
      const begun = performance.now();
      await append(`loan-application-1.${randomUUID()}`, newEvent());
      latencies.push(performance.now() - begun);
      // An event loop with other work to do is the point of the comparison.
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  await Promise.all(Array.from({ length: writers }, write));
  const took = (performance.now() - start) / 1_000;
  const cpu = process.threadCpuUsage(cpuBefore);
  delay.disable();
  latencies.sort((a, b) => a - b);
  return {
    variant,
    writers,
    perSecond: Math.round(latencies.length / took),
    p50Ms: round(percentile(latencies, 0.5)),
    p99Ms: round(percentile(latencies, 0.99)),
    mainThreadCpu: `${Math.round((cpu.user + cpu.system) / latencies.length)} us/append`,
    loopDelayP99Ms: round(delay.percentile(99) / 1e6),
    loopDelayMaxMs: round(delay.max / 1e6),
  };
};

const dataDir = temporaryDirectory();
const results: Measurement[] = [];
const store = await SqliteEventStore.open(dataDir);
for (const writers of [1, 32, 64])
  results.push(
    await measure('threads, group commit', writers, (stream, event) =>
      store.append(stream, 'no_stream', [event]),
    ),
  );
const controller = new AbortController();
const follower = (async (): Promise<void> => {
  for await (const _ of store.subscribe({ from: 'start', signal: controller.signal }));
})();
results.push(
  await measure('the same with a subscriber', 64, (stream, event) =>
    store.append(stream, 'no_stream', [event]),
  ),
);
controller.abort();
await follower;
await store.close();

const db = openEventLog({ path: join(dataDir, 'main-thread.db'), role: 'writer', busyTimeoutMs: 5_000 });
const writer = new EventLogWriter(db);
for (const writers of [1, 64])
  results.push(
    await measure('main thread, a commit each', writers, async (stream, event) =>
      writer.carryOut([encodeAppend(stream, 'no_stream', [event], undefined)]),
    ),
  );
db.close();
console.table(results);
