import { createHmac, randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { afterAll, afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { DeliveryLog } from '../../../application/webhooks/delivery-log.ts';
import type { DeliveryRecord } from '../../../application/webhooks/delivery-log.ts';
import { DeliveryQueue } from '../../../application/webhooks/queue/delivery-queue.ts';
import { RangeRedeliveries } from '../../../application/webhooks/queue/range-redeliveries.ts';
import { Redeliveries } from '../../../application/webhooks/redeliveries.ts';
import { WebhookSubscriptions } from '../../../application/webhooks/subscriptions.ts';
import { logOrder } from '../../../infrastructure/composition/read-models.ts';
import { SystemClock } from '../../../infrastructure/support/time.ts';
import { DnsAddressGuard } from '../../../infrastructure/webhooks/addresses/address-guard.ts';
import { WebhookWorker } from '../../../infrastructure/webhooks/webhook-worker.ts';
import { authority } from '../../support/certificates.ts';
import { RecordingLogger } from '../../support/recording-logger.ts';
import { openServiceDatabase } from '../../support/sql/temporary-database.ts';
import { TlsReceiver, answer } from '../../support/tls-receiver.ts';
import type { ReceivedRequest } from '../../support/tls-receiver.ts';
import { until } from '../../support/within.ts';

const clock = new SystemClock();
const PATIENCE_MS = 60_000;
/** So long a receiver that is down is left alone between two attempts. */
const GAP_MS = 20;
const SINCE = '2020-01-01T00:00:00Z';

let receiver: TlsReceiver;
let queue: DeliveryQueue;
let log: DeliveryLog;
let subscriptions: WebhookSubscriptions;
let redeliveries: Redeliveries;
let workers: WebhookWorker[];
const applicationId = randomUUID();
const context = { requestId: 'r', clientId: 'c', applicationId, fundIds: [] };

const [ca, store] = await Promise.all([authority(), openServiceDatabase()]);
afterAll(() => store.close());

beforeEach(async () => {
  const { database } = store;
  queue = new DeliveryQueue(database);
  log = new DeliveryLog(database);
  subscriptions = new WebhookSubscriptions(database);
  workers = [];
  const onQueued = (ids: readonly string[]): void => workers.at(-1)?.wake(ids);
  const ranges = new RangeRedeliveries(database);
  redeliveries = new Redeliveries({ subscriptions, ranges, realClock: clock, onQueued });
  receiver = await TlsReceiver.start(await ca.leaf());
});
afterEach(async () => {
  for (const { webhookId } of await subscriptions.ofApplications([applicationId]))
    await subscriptions.remove(applicationId, webhookId, clock.realNow());
  await Promise.all(workers.map((worker) => worker.stop(0)));
  await receiver.close();
}, PATIENCE_MS);

const work = async (): Promise<WebhookWorker> => {
  const worker = new WebhookWorker({
    ...{ queue, subscriptions, clock, bus: undefined, order: logOrder, logger: new RecordingLogger() },
    ranges: new RangeRedeliveries(store.database),
    guard: new DnsAddressGuard({ allowPrivateNetwork: true }),
    openSecret: (text) => text,
    schedule: [GAP_MS],
    // What is held up here is never given up.
    timeoutMs: 10 * PATIENCE_MS,
    extraRoots: ca.caPem,
    limits: { lookEveryMs: 50 },
  });
  workers.push(worker);
  await worker.start();
  return worker;
};

const subscribe = async (url = receiver.url): Promise<string> => {
  const webhookId = randomUUID();
  const description = null;
  await subscriptions.add(
    {
      ...{ webhookId, applicationId, url, events: ['*'], fundIds: null, description },
      ...{ sealedSecret: 'first secret', createdAt: clock.realNow() },
    },
    20,
  );
  return webhookId;
};

interface Sent {
  readonly code: string;
  readonly sequence: number;
}

const enqueue = async (webhookId: string, operations: number, each: number): Promise<void> => {
  const sent = Array.from({ length: operations * each }, (_, n): Sent => {
    return { code: `OP-${n % operations}`, sequence: Math.floor(n / operations) };
  });
  const planned = sent.map(({ code, sequence }) => {
    const eventId = randomUUID();
    const body = JSON.stringify({ event_id: eventId, code, sequence, value: 'ação' });
    const event = { eventId, name: 'loan_received', applicationId, fundId: 'f', code, sequence, body };
    return { webhookId, event: { ...event, timestamp: clock.realNow() } };
  });
  await queue.enqueue(planned, clock.realNow());
};

const records = async (webhookId: string): Promise<readonly DeliveryRecord[]> =>
  (await log.list({ webhookId, limit: 5_000 })).deliveries;

const allAre = (webhookId: string, status: DeliveryRecord['status']): Promise<void> =>
  until(
    async () => (await records(webhookId)).every((one) => one.status === status),
    `every delivery ${status}`,
    PATIENCE_MS,
  );

const ended = async (webhookId: string, redeliveryId: string) => {
  const find = () => redeliveries.find(context, webhookId, redeliveryId);
  await until(async () => (await find())!.status !== 'running', 'the end of the redelivery', PATIENCE_MS);
  return (await find())!;
};

const sentOf = ({ body }: ReceivedRequest): Sent => JSON.parse(body.toString()) as Sent;
const inOrder = (requests: readonly ReceivedRequest[]): boolean =>
  [...Map.groupBy(requests.map(sentOf), ({ code }) => code).values()].every((of) =>
    of.every(({ sequence }, n) => n === 0 || of[n - 1]!.sequence <= sequence),
  );

/** Deliveries of which every attempt failed, by a receiver that is plainly there. */
const lostBefore = async (operations: number, each: number): Promise<string> => {
  receiver.answer = answer(400);
  const webhookId = await subscribe();
  await enqueue(webhookId, operations, each);
  await work();
  await allAre(webhookId, 'failed');
  return webhookId;
};

describe('after an outage', () => {
  test(
    'each gets one attempt more: the bytes of the first, the secret of today, the next number, operations in order',
    async () => {
      const webhookId = await lostBefore(3, 4);
      const before = receiver.requests.splice(0);
      await subscriptions.update(
        applicationId,
        webhookId,
        { sealedSecret: 'second secret' },
        clock.realNow(),
      );
      receiver.answer = answer(200);
      const begun = await redeliveries.start(context, webhookId, { since: SINCE });
      expect(begun).toMatchObject({ queued: 12, failed: 0, gone: 0 });
      const { redeliveryId } = begun;
      expect(await ended(webhookId, redeliveryId)).toMatchObject({
        ...{ status: 'completed', queued: 12, delivered: 12, failed: 0, gone: 0 },
      });
      expect([receiver.requests.length, inOrder(receiver.requests)]).toEqual([12, true]);
      for (const { headers, body } of receiver.requests) {
        const same = before.filter((one) => one.headers['x-svc-event-id'] === headers['x-svc-event-id']);
        expect(same.map((one) => one.body.equals(body))).toEqual([true, true]);
        expect(headers['x-svc-delivery-attempt']).toBe('3');
        const hmac = createHmac('sha256', 'second secret').update(body).digest('hex');
        expect(headers['x-svc-signature']).toBe(hmac);
      }
      const kept = await records(webhookId);
      expect(kept.map(({ status, attempts, attemptLog }) => [status, attempts, attemptLog.length])).toEqual(
        Array.from({ length: 12 }, () => ['delivered', 3, 3]),
      );
    },
    2 * PATIENCE_MS,
  );

  test(
    'operations go side by side, each one waiting for its answer',
    async () => {
      const webhookId = await lostBefore(4, 3);
      receiver.requests.splice(0);
      const open: { readonly of: Sent; readonly response: ServerResponse }[] = [];
      receiver.answer = (response, request) => void open.push({ of: sentOf(request), response });
      const { redeliveryId } = await redeliveries.start(context, webhookId, { since: SINCE });
      for (const sequence of [0, 1, 2]) {
        await until(() => open.length === 4, `four requests at once, ${sequence}`, PATIENCE_MS);
        const codes = open.map(({ of }) => of.code).sort();
        expect(codes).toEqual(['OP-0', 'OP-1', 'OP-2', 'OP-3']);
        expect(open.every(({ of }) => of.sequence === sequence)).toBe(true);
        for (const { response } of open.splice(0)) response.writeHead(200).end();
      }
      expect(await ended(webhookId, redeliveryId)).toMatchObject({ status: 'completed', delivered: 12 });
    },
    2 * PATIENCE_MS,
  );

  test(
    'ten attempts that nobody answers end it, and the others are left as they are',
    async () => {
      const webhookId = await lostBefore(20, 1);
      await receiver.close();
      const { redeliveryId } = await redeliveries.start(context, webhookId, { since: SINCE });
      expect(await ended(webhookId, redeliveryId)).toMatchObject({
        ...{ status: 'stopped', queued: 20, failed: 10, delivered: 0, gone: 0 },
      });
      const attempts = (await records(webhookId)).map((one) => one.attempts).sort();
      expect(attempts).toEqual([...Array<number>(10).fill(2), ...Array<number>(10).fill(3)]);
      receiver = await TlsReceiver.start(await ca.leaf());
    },
    2 * PATIENCE_MS,
  );

  test(
    'a stop in the middle costs nothing but the attempts that were under way',
    async () => {
      const webhookId = await lostBefore(5, 10);
      receiver.requests.splice(0);
      const held: ServerResponse[] = [];
      receiver.answer = (response) => {
        if (receiver.requests.length <= 8) response.writeHead(200).end();
        else held.push(response);
      };
      const { redeliveryId } = await redeliveries.start(context, webhookId, { since: SINCE });
      await until(() => held.length === 5, 'every operation held up', PATIENCE_MS);
      const unanswered = receiver.requests.slice(8).map(({ headers }) => headers['x-svc-event-id']);
      // Cut off in the middle of them: nothing of these five is noted.
      await workers.pop()!.stop(0);
      receiver.cut();
      receiver.answer = answer(200);
      await work();
      expect(await ended(webhookId, redeliveryId)).toMatchObject({
        ...{ status: 'completed', queued: 50, delivered: 50, failed: 0 },
      });
      const twice = [...Map.groupBy(receiver.requests, ({ headers }) => headers['x-svc-event-id'])]
        .filter(([, of]) => of.length > 1)
        .map(([id, of]) => [id, of.length]);
      expect(twice.sort()).toEqual(unanswered.map((id) => [id, 2]).sort());
      expect(inOrder(receiver.requests)).toBe(true);
    },
    2 * PATIENCE_MS,
  );

  test(
    'what a process left half selected is selected and sent by another',
    async () => {
      const webhookId = await lostBefore(2, 2);
      receiver.answer = answer(200);
      const redeliveryId = randomUUID();
      const now = clock.realNow();
      const span = { since: '2020-01-01T00:00:00.000Z', until: now, createdAt: now };
      const ranges = new RangeRedeliveries(store.database);
      await ranges.begin({ redeliveryId, webhookId, applicationId, choice: 'failed', ...span });
      expect(await ended(webhookId, redeliveryId)).toMatchObject({ queued: 4, delivered: 4 });
    },
    2 * PATIENCE_MS,
  );

  test(
    'a delivery whose event is gone is counted as such, and holds up nothing',
    async () => {
      const webhookId = await lostBefore(2, 2);
      const [first] = await records(webhookId);
      const lost = store.database.builder.deleteFrom('webhook_event').where('event_id', '=', first!.eventId);
      await store.database.transaction([{ query: lost.compile() }]);
      receiver.answer = answer(200);
      // One that does not remember it.
      await workers.pop()!.stop(0);
      queue = new DeliveryQueue(store.database);
      await work();
      const { redeliveryId } = await redeliveries.start(context, webhookId, { since: SINCE });
      expect(await ended(webhookId, redeliveryId)).toMatchObject({ queued: 4, delivered: 3, gone: 1 });
    },
    2 * PATIENCE_MS,
  );

  test(
    'another webhook gets what is new while one of them waits for a receiver that does not answer',
    async () => {
      const webhookId = await lostBefore(30, 2);
      const held: ServerResponse[] = [];
      receiver.answer = (response) => void held.push(response);
      const { redeliveryId } = await redeliveries.start(context, webhookId, { since: SINCE });
      await until(() => held.length === 10, 'ten at once', PATIENCE_MS);
      const other = await TlsReceiver.start(await ca.leaf());
      const second = await subscribe(other.url);
      await enqueue(second, 20, 2);
      workers.at(-1)!.wake([second]);
      await allAre(second, 'delivered');
      expect(other.requests.length).toBe(40);
      expect((await redeliveries.find(context, webhookId, redeliveryId))!.queued).toBe(60);
      await other.close();
    },
    2 * PATIENCE_MS,
  );
});

describe('a redelivery', () => {
  test('is refused for a paused webhook, beside another, for an empty span and for nobody’s webhook', async () => {
    const webhookId = await lostBefore(1, 1);
    await workers.pop()!.stop(0);
    const code = (request: object, id = webhookId): Promise<unknown> =>
      redeliveries.start(context, id, { since: SINCE, ...request }).then(
        () => 'begun',
        (error: unknown) => (error as { code?: string }).code,
      );
    expect(await code({ until: SINCE })).toBe('validation_error');
    expect(await code({ since: '9999-01-01T00:00:00Z' })).toBe('validation_error');
    expect(await code({}, randomUUID())).toBe('webhook_not_found');
    await subscriptions.update(applicationId, webhookId, { status: 'paused' }, clock.realNow());
    expect(await code({})).toBe('webhook_invalid_state');
    await subscriptions.update(applicationId, webhookId, { status: 'active' }, clock.realNow());
    expect(await code({})).toBe('begun');
    expect(await code({ status: 'any' })).toBe('redelivery_running');
    expect(await redeliveries.find(context, webhookId, randomUUID())).toBeUndefined();
    await expect(redeliveries.find(context, randomUUID(), randomUUID())).rejects.toMatchObject({
      code: 'webhook_not_found',
    });
  });
});
