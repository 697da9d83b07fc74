import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { createHmac, createSecretKey, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent } from 'undici';
import type { EventBus, PublicEvent } from '../../application/ports/event-bus.ts';
import { NO_METRICS } from '../../application/ports/webhook-metrics.ts';
import type { Clock } from '../../application/ports/clock.ts';
import { migrate } from '../../infrastructure/sql/migration.ts';
import { serviceMigrations } from '../../infrastructure/sql/service-migrations.ts';
import { SqliteDatabase } from '../../infrastructure/sql/sqlite/sqlite-database.ts';
import { SqlDeliveryQueue } from '../../infrastructure/sql/webhooks/sql-delivery-queue.ts';
import { SqlWebhookSubscriptions } from '../../infrastructure/sql/webhooks/sql-webhook-subscriptions.ts';
import { DnsAddressGuard } from '../../infrastructure/webhooks/addresses/address-guard.ts';
import { webhookTrust } from '../../infrastructure/webhooks/sending/trust.ts';
import { WebhookWorker } from '../../infrastructure/webhooks/webhook-worker.ts';
import { authority } from '../support/certificates.ts';
import { RecordingLogger } from '../support/recording-logger.ts';

const SECRET = 'bench-secret';
const clock = { now: () => new Date().toISOString(), today: () => '2026-01-15' } as unknown as Clock;
const plainSealer = { seal: (text: string) => text, open: (text: string) => text };

const iso = (ms: number): string => new Date(ms).toISOString();
const perSecond = (count: number, startedAt: number): number =>
  (count / (performance.now() - startedAt)) * 1000;

const eventOf = (index: number, operations: number): PublicEvent => {
  const eventId = randomUUID();
  const code = `OP-${index % operations}`;
  const sequence = Math.floor(index / operations);
  const timestamp = clock.now();
  const data = { installment_code: '001', settled_at: '2026-06-15', late_days: 0, padding: 'x'.repeat(400) };
  const body = JSON.stringify({
    event: 'installment_settled',
    event_id: eventId,
    code,
    timestamp,
    sequence,
    data,
  });
  return {
    eventId,
    name: 'installment_settled',
    applicationId: 'app',
    fundId: 'fund',
    code,
    sequence,
    timestamp,
    body,
  };
};

class DirectBus implements EventBus {
  #handler: ((events: readonly PublicEvent[]) => Promise<void>) | undefined;
  async publish(events: readonly PublicEvent[]): Promise<void> {
    await this.#handler!(events);
  }
  async consume(_group: string, handler: (events: readonly PublicEvent[]) => Promise<void>): Promise<void> {
    this.#handler = handler;
  }
  async close(): Promise<void> {
    // Nothing to close.
  }
}

const openService = async () => {
  const directory = await mkdtemp(join(tmpdir(), 'webhook-bench-'));
  const logger = new RecordingLogger();
  const database = await SqliteDatabase.open({
    path: join(directory, 'service.db'),
    synchronous: 'FULL',
    logger,
  });
  await migrate(database, serviceMigrations, clock.now());
  const close = async (): Promise<void> => {
    await database.close();
    await rm(directory, { recursive: true, force: true });
  };
  return { database, logger, close };
};

const subscribe = (subscriptions: SqlWebhookSubscriptions, webhookId: string, url: string) =>
  subscriptions.add(
    {
      webhookId,
      applicationId: 'app',
      url,
      events: ['*'],
      fundIds: null,
      description: null,
      sealedSecret: SECRET,
      createdAt: iso(0),
    },
    1_000,
  );

const startReceiver = async (): Promise<{ child: ChildProcess; url: string; caPem: string }> => {
  const ca = await authority();
  const child = fork(join(import.meta.dirname, 'webhook-receiver-process.ts'));
  child.send(await ca.leaf());
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  return { child, url: `https://localhost:${port}/hooks`, caPem: ca.caPem };
};

/** The yardstick: signed posts of the same bytes in a bare loop, nothing stored. */
const bareLoop = async (url: string, caPem: string, count: number, concurrency: number): Promise<number> => {
  const agent = new Agent({
    connections: concurrency,
    allowH2: false,
    connect: { secureContext: webhookTrust(caPem), rejectUnauthorized: true },
  });
  const { origin, pathname } = new URL(url);
  const bodies = Array.from({ length: count }, (_, i) => Buffer.from(eventOf(i, 1_000).body));
  const key = createSecretKey(Buffer.from(SECRET));
  let next = 0;
  const startedAt = performance.now();
  const loop = async (): Promise<void> => {
    for (let body = bodies[next++]; body; body = bodies[next++]) {
      const headers = {
        'content-type': 'application/json',
        'x-svc-signature': createHmac('sha256', key).update(body).digest('hex'),
      };
      const answer = await agent.request({ origin, path: pathname, method: 'POST', headers, body });
      if (answer.statusCode !== 200) throw new Error(`bare loop: ${answer.statusCode}`);
      await answer.body.dump();
    }
  };
  await Promise.all(Array.from({ length: concurrency }, loop));
  const rate = perSecond(count, startedAt);
  await agent.destroy();
  return rate;
};

/** From the event on the bus to the committed outcome of its delivery. */
const engine = async (url: string, caPem: string, count: number): Promise<number> => {
  const { database, logger, close } = await openService();
  const queue = new SqlDeliveryQueue(database);
  const subscriptions = new SqlWebhookSubscriptions(database);
  await subscribe(subscriptions, randomUUID(), url);
  const bus = new DirectBus();
  let delivered = 0;
  let finish = (): void => undefined;
  const finished = new Promise<void>((resolve) => (finish = resolve));
  const worker = new WebhookWorker({
    queue,
    subscriptions,
    bus,
    guard: new DnsAddressGuard({ allowPrivateNetwork: true }),
    sealer: plainSealer,
    clock,
    logger,
    schedule: [1_000],
    timeoutMs: 10_000,
    extraRoots: caPem,
    metrics: { ...NO_METRICS, delivered: () => ++delivered === count && finish() },
  });
  await worker.start();
  const events = Array.from({ length: count }, (_, i) => eventOf(i, Math.ceil(count / 4)));
  const startedAt = performance.now();
  for (let at = 0; at < count; at += 200) await bus.publish(events.slice(at, at + 200));
  await finished;
  const rate = perSecond(count, startedAt);
  await worker.stop(1_000);
  for (const line of logger.lines)
    console.log(line.level, line.message, JSON.stringify(line.fields).slice(0, 300));
  await close();
  return rate;
};

/** The rate, and the processor time of this process for each delivery: the second hardly depends on what else the machine does. */
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
  const { child, url, caPem } = await startReceiver();
  const count = Number(process.env['COUNT'] ?? 20_000);
  await bareLoop(url, caPem, 5_000, 16);
  await engine(url, caPem, 4_000);
  for (let turn = 0; turn < 3; turn++) {
    const bare = await withCpu(count, () => bareLoop(url, caPem, count, 64));
    const signed = await withCpu(count, () => engine(url, caPem, count));
    const ratio = (signed.rate / bare.rate).toFixed(2);
    console.log(`bare ${bare.text}  engine ${signed.text}  ratio ${ratio}`);
  }
  child.kill();
};

/** A claim of 16 lanes and its return, with so many deliveries waiting in as many lanes. */
const claimCost = async (waiting: number): Promise<number> => {
  const { database, close } = await openService();
  const queue = new SqlDeliveryQueue(database);
  const webhookId = randomUUID();
  await subscribe(new SqlWebhookSubscriptions(database), webhookId, 'https://localhost/');
  for (let at = 0; at < waiting; at += 1_000) {
    const size = Math.min(1_000, waiting - at);
    const events = Array.from({ length: size }, (_, i) => eventOf(at + i, waiting));
    await queue.enqueue(
      events.map((event) => ({ webhookId, event })),
      iso(Date.now()),
    );
  }
  const rounds: number[] = [];
  for (let round = 0; round < 300; round++) {
    const now = Date.now() + 1_000;
    const startedAt = performance.now();
    const claim = await queue.claim(
      [{ webhookId, firstAttempts: 16, retries: 0 }],
      iso(now),
      iso(now + 15_000),
    );
    rounds.push(performance.now() - startedAt);
    await queue.release(
      claim.deliveries.map(({ lease }) => lease),
      iso(now),
    );
  }
  await close();
  return rounds.sort((a, b) => a - b)[150]!;
};

const claims = async (): Promise<void> => {
  const few = await claimCost(1_000);
  const many = await claimCost(1_000_000);
  console.log(
    `claim of 16 lanes: ${few.toFixed(3)} ms with 1,000 waiting, ${many.toFixed(3)} ms with 1,000,000`,
  );
  console.log(`ratio ${(many / few).toFixed(2)}`);
};

const what = process.argv[2] ?? 'throughput';
if (what === 'throughput') await throughput();
else if (what === 'engine') {
  const { child, url, caPem } = await startReceiver();
  await engine(url, caPem, 2_000);
  console.log(await engine(url, caPem, Number(process.env['COUNT'])));
  child.kill();
} else await claims();
