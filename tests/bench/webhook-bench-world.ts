import { SystemClock } from '../../infrastructure/support/time.ts';
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { createHmac, createSecretKey, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Agent } from 'undici';
import { TimeOrderedIds } from '../../application/support/time-ordered-id.ts';
import type { EventBus, PublicEvent } from '../../application/ports/event-bus.ts';
import type { WebhookMetrics } from '../../application/ports/observation.ts';
import { migrate } from '../../application/sql/migrations/migrate.ts';
import { serviceMigrations } from '../../application/sql/migrations/service.ts';
import { SqliteDatabase } from '../../infrastructure/sqlite/sqlite-database.ts';
import { DeliveryQueue } from '../../application/webhooks/queue/delivery-queue.ts';
import { RangeRedeliveries } from '../../application/webhooks/queue/range-redeliveries.ts';
import { WebhookSubscriptions } from '../../application/webhooks/subscriptions.ts';
import { logOrder } from '../../infrastructure/composition/read-models.ts';
import { DnsAddressGuard } from '../../infrastructure/webhooks/addresses/address-guard.ts';
import { webhookTrust } from '../../infrastructure/webhooks/sending/receiver-connections.ts';
import { WebhookWorker } from '../../infrastructure/webhooks/webhook-worker.ts';
import { authority } from '../support/certificates.ts';
import { RecordingLogger } from '../support/recording-logger.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const SECRET = 'bench-secret';
const APPLICATION = 'application';
const eventIds = new TimeOrderedIds();
const clock = new SystemClock();

export const iso = (ms: number): string => new Date(ms).toISOString();
export const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
export const perSecond = (count: number, startedAt: number): number =>
  (count / (performance.now() - startedAt)) * 1000;
export const percentile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) * share)] ?? NaN;

/** An event of about the size of a settlement; `index` spreads events over so many operations. */
export const eventOf = (index: number, operations: number): PublicEvent => {
  const eventId = eventIds.next(Date.now());
  const code = `OP-${index % operations}`;
  const sequence = Math.floor(index / operations);
  const timestamp = clock.realNow();
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
    applicationId: APPLICATION,
    fundId: 'f',
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
    // Nothing to let go of.
  }
}

export interface Receiver {
  readonly origin: string;
  readonly caPem: string;
  latencies(): Promise<readonly number[]>;
  /** Settlements that came under `/arrivals` since the last call, with when they came. */
  arrivals(): Promise<readonly { readonly key: string; readonly at: number }[]>;
  stop(): void;
}

export const startReceiver = async (): Promise<Receiver> => {
  const ca = await authority();
  const child: ChildProcess = fork(join(import.meta.dirname, 'webhook-receiver-process.ts'));
  child.send(await ca.leaf());
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  const ask = async <Answer>(what: string): Promise<Answer> => {
    child.send(what);
    return (await once(child, 'message'))[0] as Answer;
  };
  return {
    origin: `https://localhost:${port}`,
    caPem: ca.caPem,
    latencies: () => ask('latencies'),
    arrivals: () => ask('arrivals'),
    stop: () => void child.kill(),
  };
};

/** The embedded store on disk, as durable as in the service; in a directory of its own unless one is given. */
export const openStore = async (given?: string) => {
  const directory = given ?? temporaryDirectory();
  const logger = new RecordingLogger();
  const path = join(directory, 'service.db');
  const database = await SqliteDatabase.open({ path, synchronous: 'FULL', logger });
  await migrate(database, serviceMigrations, clock.realNow());
  const subscriptions = new WebhookSubscriptions(database);
  const subscribe = async (url: string): Promise<string> => {
    const webhookId = randomUUID();
    const rest = { events: ['*'], fundIds: null, description: null, sealedSecret: SECRET, createdAt: iso(0) };
    await subscriptions.add({ webhookId, applicationId: APPLICATION, url, ...rest }, 1_000);
    return webhookId;
  };
  const subscribed = async () =>
    (await subscriptions.ofApplications([APPLICATION])).map((one) => one.webhookId);
  const close = async (): Promise<void> => {
    await database.close();
    if (given === undefined) await rm(directory, { recursive: true, force: true });
    for (const { level, message } of logger.lines) if (level === 'error') console.log(message);
  };
  const [queue, ranges] = [new DeliveryQueue(database), new RangeRedeliveries(database)];
  return { queue, ranges, subscriptions, subscribe, subscribed, logger, close };
};
type Store = Awaited<ReturnType<typeof openStore>>;

export const startWorker = async (store: Store, caPem: string, metrics: WebhookMetrics) => {
  const bus = new DirectBus();
  const worker = new WebhookWorker({
    ...store,
    bus,
    order: logOrder,
    guard: new DnsAddressGuard({ allowPrivateNetwork: true }),
    openSecret: (text) => text,
    clock,
    schedule: [30_000, 120_000],
    timeoutMs: 10_000,
    extraRoots: caPem,
    metrics,
  });
  await worker.start();
  return { bus, worker };
};

/** The yardstick: signed posts of the same bytes in a bare loop; nothing is stored. */
export const bareLoop = async (
  { origin, caPem }: Receiver,
  count: number,
  connections: number,
): Promise<number> => {
  const connect = { secureContext: webhookTrust(caPem), rejectUnauthorized: true };
  const agent = new Agent({ connections, allowH2: false, connect });
  const bodies = Array.from({ length: count }, (_, i) => Buffer.from(eventOf(i, 1_000).body));
  const key = createSecretKey(Buffer.from(SECRET));
  let next = 0;
  const startedAt = performance.now();
  const loop = async (): Promise<void> => {
    for (let body = bodies[next++]; body; body = bodies[next++]) {
      const signature = createHmac('sha256', key).update(body).digest('hex');
      const headers = { 'content-type': 'application/json', 'x-svc-signature': signature };
      const answer = await agent.request({ origin, path: '/ok', method: 'POST', headers, body });
      if (answer.statusCode !== 200) throw new Error(`bare loop: ${answer.statusCode}`);
      await answer.body.dump();
    }
  };
  await Promise.all(Array.from({ length: connections }, loop));
  const rate = perSecond(count, startedAt);
  await agent.destroy();
  return rate;
};
