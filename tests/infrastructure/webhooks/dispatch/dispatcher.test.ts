import { afterAll, afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { WebhookRequest } from '../../../../infrastructure/webhooks/sending/webhook-sender.ts';
import { openServiceDatabase } from '../../../support/sql/temporary-database.ts';
import { DOWN, DispatchWorld, NEVER, OK, REFUSED } from '../support/dispatch-world.ts';
import { until } from '../../../support/within.ts';

const URL_A = 'https://a.example/hooks/token-of-a';
const URL_B = 'https://b.example/hooks';

let world: DispatchWorld;
const store = await openServiceDatabase();
afterAll(() => store.close());
beforeEach(() => {
  world = new DispatchWorld(store.database);
});
afterEach(() => world.close());

const codeOf = ({ eventId }: WebhookRequest): string => eventId.split('#')[0]!;
const range = (count: number, prefix = 'OP'): string[] =>
  Array.from({ length: count }, (_, i) => `${prefix}-${i}`);

describe('the dispatcher', () => {
  test('sends what is queued, lane by lane in order, when it is woken', async () => {
    const webhookId = await world.subscribe(URL_A);
    const { dispatcher, sender } = world.worker({ settings: { lookEveryMs: 60_000 } });
    dispatcher.start();
    const events = range(5).flatMap((code) => [world.event(code), world.event(code), world.event(code)]);
    await world.enqueue(webhookId, events);
    dispatcher.wake([webhookId]);
    await world.untilDelivered(webhookId, 15);
    for (const code of range(5)) {
      const sent = sender.sent.filter((request) => codeOf(request) === code).map(({ eventId }) => eventId);
      expect(sent).toEqual([0, 1, 2].map((sequence) => `${code}#${sequence}`));
    }
  });

  test('finds by itself what another process queued, and what was queued before it started', async () => {
    const webhookId = await world.subscribe(URL_A);
    await world.enqueue(webhookId, [world.event('before')]);
    world.worker().dispatcher.start();
    await world.untilDelivered(webhookId, 1);
    await world.enqueue(webhookId, [world.event('later')]);
    await world.untilDelivered(webhookId, 2);
  });

  test('claims once for what was queued, and not again for lanes that are empty then', async () => {
    const webhookId = await world.subscribe(URL_A);
    let [claims, looks] = [0, 0];
    const { dispatcher } = world.worker({
      settings: { lookEveryMs: 60_000 },
      queue: {
        lease: (...args) => {
          claims += 1;
          return world.queue.lease(...args);
        },
        schedules: () => {
          looks += 1;
          return world.schedules();
        },
      },
    });
    dispatcher.start();
    await until(() => looks === 1, 'the first look');
    for (const delivered of [1, 2, 3]) {
      await world.enqueue(webhookId, [world.event('OP-1')]);
      dispatcher.wake([webhookId]);
      await world.untilDelivered(webhookId, delivered);
      await until(() => dispatcher.status().inFlight === 0, 'the end of the lane');
    }
    await dispatcher.stop(1_000);
    expect(claims).toBe(3);
  });

  test('while a result is being stored its endpoint is known on, and nobody asks for its lanes twice', async () => {
    const webhookId = await world.subscribe(URL_A);
    const [storing, leasing] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const asked: number[] = [];
    let [looks, stored] = [0, 0];
    const { dispatcher, sender } = world.worker({
      settings: { lookEveryMs: 20 },
      queue: {
        lease: async (requests, ...rest) => {
          if (asked.push(requests.length) === 2) await leasing.promise;
          return world.queue.lease(requests, ...rest);
        },
        record: async (results, ...rest) => {
          stored += 1;
          await storing.promise;
          await world.queue.record(results, ...rest);
          // So that its lane looks for more.
          return results.map(() => ({ kind: 'released' }));
        },
        schedules: async () => {
          looks += 1;
          return [];
        },
      },
    });
    const queued = async (code: string): Promise<void> => {
      await world.enqueue(webhookId, [world.event(code)]);
      dispatcher.wake([webhookId]);
    };
    dispatcher.start();
    await queued('OP-1');
    await until(() => stored === 1, 'a result that is being stored');
    const before = looks;
    await until(() => looks >= before + 2, 'two looks, each of which lets go of what is not in use');
    await queued('OP-2');
    await until(() => asked.length === 2, 'another lease');
    storing.resolve();
    await until(() => dispatcher.status().inFlight === 0, 'the end of the first lane');
    await queued('OP-3');
    leasing.resolve();
    await world.untilDelivered(webhookId, 3);
    await dispatcher.stop(1_000);
    expect(Math.max(...asked)).toBe(1);
    expect(sender.sent.map(({ eventId }) => eventId)).toEqual(['OP-1#0', 'OP-2#0', 'OP-3#0']);
  });

  test('is quiet while there is nothing to do', async () => {
    const webhookId = await world.subscribe(URL_A);
    let [claims, looks] = [0, 0];
    const { dispatcher } = world.worker({
      settings: { lookEveryMs: 40 },
      queue: {
        lease: (...args) => {
          claims += 1;
          return world.queue.lease(...args);
        },
        schedules: () => {
          looks += 1;
          return world.schedules();
        },
      },
    });
    dispatcher.start();
    await world.enqueue(webhookId, [world.event('OP-1')]);
    dispatcher.wake([webhookId]);
    await world.untilDelivered(webhookId, 1);
    const [claimsBefore, looksBefore] = [claims, looks];
    await until(() => looks >= looksBefore + 5, 'five looks');
    expect(claims - claimsBefore).toBeLessThanOrEqual(1);
  });

  test('retries after the gaps of the schedule with the next number, the same bytes and the then current secret', async () => {
    const webhookId = await world.subscribe(URL_A);
    const { dispatcher, sender } = world.worker({ settings: { schedule: [40, 80, 1_000] } });
    const times: number[] = [];
    sender.respond = async () => {
      times.push(Date.now());
      if (times.length === 2) {
        await world.subscriptions.update(world.applicationId, webhookId, { sealedSecret: 'secret-2' }, 'now');
      }
      return times.length < 3 ? REFUSED : OK;
    };
    dispatcher.start();
    await world.enqueue(webhookId, [world.event('OP-1')]);
    dispatcher.wake([webhookId]);
    await world.untilDelivered(webhookId, 1);
    expect(sender.sent.map(({ attempt, body }) => [attempt, body])).toEqual(
      [1, 2, 3].map((n) => [n, 'OP-1#0']),
    );
    expect(times[1]! - times[0]!).toBeGreaterThanOrEqual(40);
    expect(times[2]! - times[1]!).toBeGreaterThanOrEqual(80);
    const secrets = sender.sent.map(({ key }) => key.text.export().toString());
    expect(secrets).toEqual(['secret-1', 'secret-1', 'secret-2']);
  });

  test('after the last attempt says what failed, without the address’s path or any secret, and moves on', async () => {
    const webhookId = await world.subscribe(URL_A);
    let exhausted = 0;
    const { dispatcher, sender } = world.worker({ metrics: { exhausted: () => (exhausted += 1) } });
    sender.respond = ({ eventId }) => (eventId === 'OP-1#0' ? REFUSED : OK);
    dispatcher.start();
    await world.enqueue(webhookId, [world.event('OP-1'), world.event('OP-1')]);
    await world.untilDelivered(webhookId, 1);
    expect(sender.sent.map(({ eventId, attempt }) => `${eventId} ${attempt}`)).toEqual([
      ...[1, 2, 3, 4].map((attempt) => `OP-1#0 ${attempt}`),
      'OP-1#1 1',
    ]);
    const [failed] = await world.records(webhookId, 'failed');
    expect(failed).toMatchObject({ attempts: 4, lastResponseStatus: 500 });
    const lines = world.logger.lines.filter(({ message }) => message === 'delivery_failed');
    expect(lines).toEqual([
      {
        level: 'error',
        message: 'delivery_failed',
        fields: {
          event: 'delivery_failed',
          webhook_id: webhookId,
          application_id: world.applicationId,
          receiver: 'https://a.example',
          delivery_id: failed!.deliveryId,
          event_id: 'OP-1#0',
          event_name: 'loan_received',
          originator_proposal_code: 'OP-1',
          fund_id: 'f',
          attempts: 4,
          created_at: failed!.createdAt,
          last_response_status: 500,
          last_error: 'http status 500',
        },
      },
    ]);
    expect(exhausted).toBe(1);
  });

  test('lets no lane wait for another, and no endpoint for another', async () => {
    const [slow, fast] = [await world.subscribe(URL_A), await world.subscribe(URL_B)];
    const { dispatcher, sender } = world.worker({ settings: { timeoutMs: 60_000, leaseMs: 90_000 } });
    sender.respond = (request) => (request.url === URL_A && codeOf(request) !== 'OP-7' ? NEVER : OK);
    dispatcher.start();
    const codes = range(20);
    await world.enqueue(
      slow,
      ['OP-0', 'OP-1', 'OP-7'].map((code) => world.event(code)),
    );
    await world.enqueue(
      fast,
      codes.map((code) => world.event(code)),
    );
    dispatcher.wake([slow, fast]);
    await world.untilDelivered(fast, 20);
    await world.untilDelivered(slow, 1);
  });

  test('has no more under way at one endpoint than allowed, and leaves room for others', async () => {
    const [hung, fine] = [await world.subscribe(URL_A), await world.subscribe(URL_B)];
    const { dispatcher, sender } = world.worker({
      settings: {
        slots: 20,
        slotsForFirstAttempts: 5,
        slotsPerEndpoint: 16,
        timeoutMs: 60_000,
        leaseMs: 90_000,
      },
    });
    sender.respond = ({ url }) => (url === URL_A ? NEVER : OK);
    dispatcher.start();
    await world.enqueue(
      hung,
      range(60).map((code) => world.event(code)),
    );
    dispatcher.wake([hung]);
    await until(() => sender.idsTo(URL_A).length >= 3, 'the endpoint to be busy');
    await world.enqueue(
      fine,
      range(40, 'X').map((code) => world.event(code)),
    );
    dispatcher.wake([fine]);
    await world.untilDelivered(fine, 40);
    expect(sender.idsTo(URL_A).length).toBeLessThanOrEqual(16);
    expect(sender.mostAtOnce).toBeLessThanOrEqual(20);
  });

  test('sends others while a result is being stored, and still no more at once than allowed', async () => {
    const webhookId = await world.subscribe(URL_A);
    const storing = Promise.withResolvers<void>();
    const { dispatcher, sender } = world.worker({
      settings: { slotsPerEndpoint: 3, timeoutMs: 60_000, leaseMs: 90_000 },
      queue: { record: (...args) => storing.promise.then(() => world.queue.record(...args)) },
    });
    sender.respond = () => new Promise((resolve) => setImmediate(() => resolve(OK)));
    dispatcher.start();
    const codes = range(12);
    await world.enqueue(
      webhookId,
      codes.flatMap((code) => [world.event(code), world.event(code)]),
    );
    dispatcher.wake([webhookId]);
    await until(() => sender.sent.length === 12, 'the head of every lane to be sent');
    storing.resolve();
    await world.untilDelivered(webhookId, 24);
    expect(sender.mostAtOnce).toBe(3);
    expect(sender.sent.slice(0, 12).every(({ eventId }) => eventId.endsWith('#0'))).toBe(true);
  });
});

describe('an endpoint that is plainly down', () => {
  test('is only probed, its deliveries keep their attempts, and all go out when it is back', async () => {
    const webhookId = await world.subscribe(URL_A);
    const breakers: string[] = [];
    const { dispatcher, sender } = world.worker({
      settings: {
        schedule: [20, 20, 20, 20],
        slotsPerEndpoint: 4,
        breaker: { failures: 4, firstPauseMs: 30, longestPauseMs: 60 },
      },
      metrics: { breaker: (state) => breakers.push(state) },
    });
    let down = true;
    sender.respond = () => (down ? DOWN : OK);
    dispatcher.start();
    await world.enqueue(
      webhookId,
      range(50).map((code) => world.event(code)),
    );
    dispatcher.wake([webhookId]);
    await until(() => sender.sent.length >= 9, 'a few probes');
    const untouched = await world.records(webhookId, 'pending');
    expect(untouched.length).toBeGreaterThan(25);
    expect(await world.records(webhookId, 'failed')).toEqual([]);
    down = false;
    await world.untilDelivered(webhookId, 50);
    expect(breakers).toEqual(['opened', 'closed']);
  });

  test('is tried at once when somebody has seen to it', async () => {
    const webhookId = await world.subscribe(URL_A);
    const breakers: string[] = [];
    const { dispatcher, sender } = world.worker({
      settings: {
        schedule: [20, 20, 20, 20],
        breaker: { failures: 2, firstPauseMs: 3_600_000, longestPauseMs: 3_600_000 },
      },
      metrics: { breaker: (state) => breakers.push(state) },
    });
    sender.respond = () => DOWN;
    dispatcher.start();
    await world.enqueue(
      webhookId,
      range(3).map((code) => world.event(code)),
    );
    dispatcher.wake([webhookId]);
    await until(() => breakers.length === 1, 'it is down');
    sender.respond = () => OK;
    dispatcher.wake([webhookId], true);
    await world.untilDelivered(webhookId, 3);
    expect(breakers).toEqual(['opened', 'closed']);
  });

  test('is tried at once when another process gave it another address', async () => {
    const webhookId = await world.subscribe(URL_A);
    await world.enqueue(webhookId, [world.event('OP-1')]);
    const breakers: string[] = [];
    const { dispatcher, sender } = world.worker({
      settings: { breaker: { failures: 1, firstPauseMs: 3_600_000, longestPauseMs: 3_600_000 } },
      metrics: { breaker: (state) => breakers.push(state) },
    });
    sender.respond = ({ url }) => (url === URL_A ? DOWN : OK);
    dispatcher.start();
    await until(() => breakers.length === 1, 'it is down');
    const at = new Date().toISOString();
    await world.subscriptions.update(world.applicationId, webhookId, { url: URL_B }, at);
    await world.untilDelivered(webhookId, 1);
    expect(sender.idsTo(URL_A)).toHaveLength(1);
  });

  test('answers at all, however badly, and it is not down', async () => {
    const webhookId = await world.subscribe(URL_A);
    const breakers: string[] = [];
    const { dispatcher, sender } = world.worker({
      settings: { breaker: { failures: 3, firstPauseMs: 30, longestPauseMs: 60 } },
      metrics: { breaker: (state) => breakers.push(state) },
    });
    sender.respond = () => REFUSED;
    dispatcher.start();
    await world.enqueue(
      webhookId,
      range(6).map((code) => world.event(code)),
    );
    await until(async () => (await world.records(webhookId, 'failed')).length === 6, 'six failures');
    expect(breakers).toEqual([]);
  });
});
