import type { EventBus, PublicEvent } from '../../../application/ports/event-bus.ts';
import type { RequestContext } from '../../../application/command-handling/request-context.ts';
import { Webhooks } from '../../../application/webhooks/webhooks.ts';
import { openText, sealText } from '../../../infrastructure/security/aes-gcm.ts';
import { logOrder } from '../../../infrastructure/composition/read-models.ts';
import { SystemClock } from '../../../infrastructure/support/time.ts';
import { DnsAddressGuard } from '../../../infrastructure/webhooks/addresses/address-guard.ts';
import { newSecret } from '../../../infrastructure/webhooks/sending/webhook-sender.ts';
import { WebhookWorker } from '../../../infrastructure/webhooks/webhook-worker.ts';
import { authority } from '../../support/certificates.ts';
import { RecordingLogger } from '../../support/recording-logger.ts';
import { TlsReceiver, answer } from '../../support/tls-receiver.ts';
import type { ReceivedRequest } from '../../support/tls-receiver.ts';
import { openServiceDatabase } from '../../support/sql/temporary-database.ts';
import { createHmac, randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Webhook, WebhookVerificationError } from 'standardwebhooks';
import { until } from '../../support/within.ts';

const clock = new SystemClock();

class OneConsumerBus implements EventBus {
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

let receiver: TlsReceiver;
let worker: WebhookWorker;
let management: Webhooks;
let bus: OneConsumerBus;
let context: RequestContext;
let logger: RecordingLogger;

const [ca, store] = await Promise.all([authority(), openServiceDatabase()]);
afterAll(() => store.close());

beforeEach(async () => {
  const key = new Uint8Array(32).fill(7);
  const guard = new DnsAddressGuard({ allowPrivateNetwork: true });
  bus = new OneConsumerBus();
  logger = new RecordingLogger();
  receiver = await TlsReceiver.start(await ca.leaf());
  management = new Webhooks({
    database: store.database,
    clock: { now: () => clock.realNow() as never, today: () => '2026-01-15' as never },
    realClock: clock,
    order: logOrder,
    clockToleranceMs: 0,
    newSecret,
    checkUrl: (url) => guard.check(url),
    seal: (text, owner) => sealText(key, text, owner),
    events: { end: () => Promise.resolve('start'), read: undefined as never },
    publication: undefined as never,
    apiVersion: '2026.1.0',
    pingsOnCreation: true,
    onQueued: (webhookIds) => worker.wake(webhookIds),
    ...({} as Pick<ConstructorParameters<typeof Webhooks>[0], 'verification' | 'putAside' | 'forwarder'>),
  });
  const { queue, ranges, subscriptions } = management;
  worker = new WebhookWorker({
    ...{ queue, ranges, subscriptions, guard, clock, bus, logger },
    openSecret: (text, owner) => openText(key, text, owner),
    order: logOrder,
    schedule: [50, 50, 50],
    timeoutMs: 3_000,
    extraRoots: ca.caPem,
  });
  context = { requestId: 'r', clientId: 'c', applicationId: randomUUID(), fundIds: [] };
  await worker.start();
});
afterEach(async () => {
  for (const { webhookId } of await management.list([context.applicationId]))
    await management.remove(context, webhookId);
  await worker.stop(1_000);
  await receiver.close();
});

const publish = (code: string, sequence: number): Promise<void> => {
  const eventId = randomUUID();
  const body = `{"event_id":"${eventId}","sequence":${sequence},"value":950.00}`;
  const rest = {
    name: 'loan_received',
    fundId: 'f',
    timestamp: clock.realNow(),
    applicationId: context.applicationId,
  };
  return bus.publish([{ eventId, code, sequence, body, ...rest }]);
};

const arrived = (event: string): readonly ReceivedRequest[] =>
  receiver.requests.filter(({ headers }) => headers['x-svc-event'] === event);
const isSignedWith = ({ headers, body }: ReceivedRequest, secret: string): boolean => {
  const timed = createHmac('sha256', secret).update(`${String(headers['x-svc-event-id'])}.`);
  const second = timed
    .update(`${String(headers['x-svc-timestamp'])}.`)
    .update(body)
    .digest('hex');
  const first = createHmac('sha256', secret).update(body).digest('hex');
  const ours = headers['x-svc-signature'] === first && headers['x-svc-signature-v2'] === second;
  if (ours !== passesStandard({ headers, body }, secret)) throw new Error('the signatures disagree');
  return ours;
};

/** As the library of Standard Webhooks sees it. */
const passesStandard = (
  { headers, body }: Pick<ReceivedRequest, 'headers' | 'body'>,
  secret: string,
): boolean => {
  try {
    return new Webhook(secret).verify(body, headers as Record<string, string>) !== undefined;
  } catch (error) {
    if (error instanceof WebhookVerificationError) return false;
    throw error;
  }
};

describe('from registration to receipt', () => {
  test('a ping arrives first, then events, signed with the secret that was shown', async () => {
    const { webhook, signingSecret } = await management.create(context, { url: receiver.url, events: ['*'] });
    await until(() => arrived('webhook.ping').length === 1, 'the ping');
    await publish('OP-1', 0);
    await publish('OP-1', 1);
    await until(() => arrived('loan_received').length === 2, 'both events');
    expect(receiver.requests.every((request) => isSignedWith(request, signingSecret))).toBe(true);
    expect(
      arrived('loan_received').map(
        ({ body }) => (JSON.parse(body.toString()) as { sequence: number }).sequence,
      ),
    ).toEqual([0, 1]);
    await until(
      async () => (await management.list([context.applicationId]))[0]!.lastSuccessAt !== null,
      'the health note',
    );
    expect((await management.list([context.applicationId]))[0]).toMatchObject({
      webhookId: webhook.webhookId,
      failingSince: null,
    });
  });

  test('a rotated secret signs the next attempt of an older event as well', async () => {
    receiver.answer = answer(500);
    const { webhook, signingSecret } = await management.create(context, { url: receiver.url, events: ['*'] });
    await publish('OP-1', 0);
    await until(() => arrived('loan_received').length >= 1, 'the first attempt');
    const rotated = await management.rotateSecret(context, webhook.webhookId);
    receiver.answer = answer(200);
    const isNew = (request: ReceivedRequest) => isSignedWith(request, rotated.signingSecret);
    const retriedAsNew = () =>
      arrived('loan_received').some(
        (request) => isNew(request) && Number(request.headers['x-svc-delivery-attempt']) > 1,
      );
    await until(retriedAsNew, 'a retry under the new secret');
    // An attempt that was claimed before the rotation may still be on its way under the old one, but never behind a new one.
    const signed = arrived('loan_received').map(isNew);
    expect(isSignedWith(arrived('loan_received')[0]!, signingSecret)).toBe(true);
    expect(signed.slice(signed.indexOf(true)).every(Boolean)).toBe(true);
  });

  test('what failed for good is sent again by hand, with the same bytes', async () => {
    receiver.answer = answer(503);
    const { webhook } = await management.create(context, { url: receiver.url, events: ['loan_received'] });
    await publish('OP-1', 0);
    const failed = async () => {
      const query = { status: 'failed' as const, limit: 10 };
      const { deliveries } = await management.deliveries.page(context, webhook.webhookId, query);
      return deliveries.find(({ event }) => event === 'loan_received');
    };
    await until(async () => (await failed()) !== undefined, 'the end of the schedule');
    const record = (await failed())!;
    expect(record).toMatchObject({ attempts: 4, lastResponseStatus: 503, lastError: 'http status 503' });
    receiver.answer = answer(200);
    const receipt = await management.deliveries.redeliver(context, record.eventId);
    expect(receipt.deliveries).toEqual([
      { webhookId: webhook.webhookId, deliveryId: record.deliveryId, attempt: 5 },
    ]);
    await until(() => arrived('loan_received').length === 5, 'the fifth attempt');
    const [first, ...others] = arrived('loan_received');
    expect(others.every(({ body }) => body.equals(first!.body))).toBe(true);
    expect(others.at(-1)!.headers['x-svc-delivery-attempt']).toBe('5');
    expect(logger.lines.filter(({ message }) => message === 'delivery_failed').length).toBeGreaterThan(0);
  });

  test('a paused one gets nothing, and everything in order once it is resumed', async () => {
    const { webhook } = await management.create(context, { url: receiver.url, events: ['loan_received'] });
    await until(() => arrived('webhook.ping').length === 1, 'the ping');
    await management.pause(context, webhook.webhookId);
    for (const sequence of [0, 1, 2]) await publish('OP-1', sequence);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(arrived('loan_received')).toEqual([]);
    await management.resume(context, webhook.webhookId);
    await until(() => arrived('loan_received').length === 3, 'three events');
    expect(
      arrived('loan_received').map(
        ({ body }) => (JSON.parse(body.toString()) as { sequence: number }).sequence,
      ),
    ).toEqual([0, 1, 2]);
  });

  test('a removed one gets nothing more', async () => {
    receiver.answer = answer(500);
    const { webhook } = await management.create(context, { url: receiver.url, events: ['*'] });
    await publish('OP-1', 0);
    await until(() => arrived('loan_received').length >= 1, 'the first attempt');
    await management.remove(context, webhook.webhookId);
    await until(() => worker.status().inFlight === 0, 'the last attempt');
    const sent = receiver.requests.length;
    await publish('OP-1', 1);
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(receiver.requests.length - sent).toBeLessThanOrEqual(1);
  });
});
