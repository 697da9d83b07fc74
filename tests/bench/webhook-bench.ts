import { spawnSync } from 'node:child_process';
import { NO_METRICS } from '../support/no-metrics.ts';
import { arrival } from './webhook-arrival.ts';
import {
  bareLoop,
  eventOf,
  iso,
  openStore,
  pause,
  perSecond,
  percentile,
  startReceiver,
  startWorker,
} from './webhook-bench-world.ts';
import type { Receiver } from './webhook-bench-world.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

/** Benchmarks of the delivery engine, each by its name: `npm run bench -- webhooks throughput endpoints latency arrival claims`. */
const COUNT = Number(process.env['COUNT'] ?? 20_000);
const BATCH = 200;

/** Deliveries per second, from the event on the bus to its delivery's committed outcome. */
const engine = async (
  receiver: Receiver,
  paths: readonly string[],
  events: number,
  wanted: number,
): Promise<number> => {
  const store = await openStore();
  for (const path of paths) await store.subscribe(receiver.origin + path);
  let delivered = 0;
  const finished = Promise.withResolvers<void>();
  const metrics = { ...NO_METRICS, delivered: () => ++delivered === wanted && finished.resolve() };
  const { bus, worker } = await startWorker(store, receiver.caPem, metrics);
  const all = Array.from({ length: events }, (_, i) => eventOf(i, Math.ceil(events / 4)));
  const startedAt = performance.now();
  for (let at = 0; at < events; at += BATCH) await bus.publish(all.slice(at, at + BATCH));
  await finished.promise;
  const rate = perSecond(wanted, startedAt);
  await worker.stop(0);
  await store.close();
  return rate;
};

/** The rate with this process's processor time for each: the second hardly depends on what else the machine does. */
const withCpu = async (
  count: number,
  run: () => Promise<number>,
): Promise<{ rate: number; text: string }> => {
  const before = process.cpuUsage();
  const rate = await run();
  const { user, system } = process.cpuUsage(before);
  return { rate, text: `${rate.toFixed(0)}/s (${((user + system) / count).toFixed(0)} us CPU each)` };
};

const throughput = async (): Promise<void> => {
  const receiver = await startReceiver();
  await bareLoop(receiver, 5_000, 16);
  await engine(receiver, ['/ok'], 4_000, 4_000);
  for (let turn = 0; turn < 3; turn++) {
    const bare = await withCpu(COUNT, () => bareLoop(receiver, COUNT, 64));
    const signed = await withCpu(COUNT, () => engine(receiver, ['/ok'], COUNT, COUNT));
    console.log(`bare ${bare.text}  engine ${signed.text}  ratio ${(signed.rate / bare.rate).toFixed(2)}`);
  }
  receiver.stop();
};

/** One hundred endpoints, all well or ten of them silent. */
const endpoints = async (): Promise<void> => {
  const receiver = await startReceiver();
  const paths = (silent: number) =>
    Array.from({ length: 100 }, (_, i) => (i < silent ? `/hang/${i}` : `/ok/${i}`));
  for (let turn = 0; turn < 2; turn++) {
    const well = await engine(receiver, paths(0), 200, 20_000);
    const some = await engine(receiver, paths(10), 200, 18_000);
    const share = some / (well * 0.9);
    console.log(
      `90 of 100: ${(well * 0.9).toFixed(0)}/s with all well, ${some.toFixed(0)}/s with 10 silent: ${share.toFixed(2)}`,
    );
  }
  receiver.stop();
};

/** From the event to its arrival, at a steady rate. */
const latency = async (): Promise<void> => {
  const receiver = await startReceiver();
  const store = await openStore();
  await store.subscribe(`${receiver.origin}/timed`);
  const { bus, worker } = await startWorker(store, receiver.caPem, NO_METRICS);
  for (const rate of [200, 200, 1_000, 2_000]) {
    const published: Promise<void>[] = [];
    const startedAt = performance.now();
    for (let sent = 0; sent < rate * 3;) {
      const due = Math.floor(((performance.now() - startedAt) / 1_000) * rate);
      for (; sent < due; sent++) published.push(bus.publish([eventOf(sent, 1_000_000)]));
      await pause(1);
    }
    await Promise.all(published);
    await pause(500);
    const times = await receiver.latencies();
    const [p50, p99] = [percentile(times, 0.5), percentile(times, 0.99)];
    console.log(`${rate}/s: ${times.length} arrived, p50 ${p50} ms, p99 ${p99} ms`);
  }
  await worker.stop(1_000);
  await store.close();
  receiver.stop();
};

/** Fills a store; run in a process of its own, so that what it allocates is not counted with what comes after. */
const fill = async (directory: string, url: string, waiting: number): Promise<void> => {
  const store = await openStore(directory);
  const webhookId = await store.subscribe(url);
  for (let at = 0; at < waiting; at += 1_000) {
    const events = Array.from({ length: Math.min(1_000, waiting - at) }, (_, i) => eventOf(at + i, waiting));
    const planned = events.map((event) => ({ webhookId, event }));
    await store.queue.enqueue(planned, iso(Date.now()));
  }
  await store.close();
};

/** A claim of 16 lanes with so many deliveries waiting in as many lanes, and what a process that sends them weighs. */
const claimCost = async (receiver: Receiver, waiting: number): Promise<{ ms: number; rss: number }> => {
  const directory = temporaryDirectory();
  const [node, script] = [process.execPath, import.meta.filename];
  spawnSync(node, [script, 'fill', directory, `${receiver.origin}/hang`, String(waiting)], {
    stdio: 'inherit',
  });
  const store = await openStore(directory);
  const [webhookId] = await store.subscribed();
  const times: number[] = [];
  for (let round = 0; round < 300; round++) {
    const now = Date.now() + 1_000;
    const request = { webhookId: webhookId!, firstAttempts: 16, retries: 0 };
    const startedAt = performance.now();
    const { deliveries } = await store.queue.lease([request], iso(now), iso(now + 15_000));
    times.push(performance.now() - startedAt);
    const leases = deliveries.map(({ lease }) => lease);
    await store.queue.release(leases, iso(now));
  }
  const { worker } = await startWorker(store, receiver.caPem, NO_METRICS);
  await pause(3_000);
  const { rss } = process.memoryUsage();
  await worker.stop(0);
  await store.close();
  return { ms: percentile(times, 0.5), rss: rss / 1_048_576 };
};

const claims = async (): Promise<void> => {
  const receiver = await startReceiver();
  const [few, many] = [await claimCost(receiver, 1_000), await claimCost(receiver, 1_000_000)];
  console.log(
    `claim of 16 lanes: ${few.ms.toFixed(2)} ms with 1,000 waiting, ${many.ms.toFixed(2)} ms with 1,000,000`,
  );
  console.log(
    `ratio ${(many.ms / few.ms).toFixed(2)}; memory ${few.rss.toFixed(0)} MB and ${many.rss.toFixed(0)} MB`,
  );
  receiver.stop();
};

const scenarios: Readonly<Record<string, () => Promise<void>>> = {
  throughput,
  endpoints,
  latency,
  arrival,
  claims,
};
const [first, ...rest] = process.argv.slice(2);
if (first === 'fill') await fill(rest[0]!, rest[1]!, Number(rest[2]));
else {
  const asked = first === undefined ? Object.keys(scenarios) : [first, ...rest];
  for (const name of asked) {
    const scenario = scenarios[name];
    if (!scenario) throw new Error(`${name}: choose among ${Object.keys(scenarios).join(', ')}`);
    await scenario();
  }
}
