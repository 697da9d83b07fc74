import { afterAll, afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { DeliveryQueue } from '../../../../application/webhooks/queue/delivery-queue.ts';
import { pause } from '../../../../infrastructure/support/time.ts';
import { openServiceDatabase } from '../../../support/sql/temporary-database.ts';
import { BROKEN_SEAL, DOWN, DispatchWorld, NEVER, OK } from '../support/dispatch-world.ts';
import type { SentRequest } from '../support/dispatch-world.ts';
import { until } from '../../../support/within.ts';

const iso = (ms: number): string => new Date(ms).toISOString();
const URL_A = 'https://a.example/hooks/token-of-a';
const secretOf = ({ key }: SentRequest): string => key.text.export().toString();
/** Of who takes over: a machine that is busy for a while does not take its lease away. */
const UNHURRIED = { timeoutMs: 60_000, leaseMs: 90_000 };

let world: DispatchWorld;
const store = await openServiceDatabase();
afterAll(() => store.close());
beforeEach(() => {
  world = new DispatchWorld(store.database);
});
afterEach(() => world.close());

describe('stopping', () => {
  test('lets what is under way finish and stores it', async () => {
    const webhookId = await world.subscribe(URL_A);
    const { dispatcher, sender } = world.worker();
    let finish = (): void => undefined;
    sender.respond = () => new Promise((resolve) => (finish = () => resolve(OK)));
    dispatcher.start();
    await world.enqueue(webhookId, [world.event('OP-1'), world.event('OP-1')]);
    dispatcher.wake([webhookId]);
    await until(() => sender.sent.length === 1, 'the attempt');
    const stopped = dispatcher.stop(5_000);
    finish();
    await stopped;
    expect(await world.records(webhookId, 'delivered')).toHaveLength(1);
    expect(sender.sent).toHaveLength(1);
    const next = world.worker();
    next.dispatcher.start();
    await world.untilDelivered(webhookId, 2);
    expect(next.sender.sent.map(({ eventId }) => eventId)).toEqual(['OP-1#1']);
  });

  test('lets a look for work come to its end, so that nothing is asked of a store that is closed then', async () => {
    const looking = Promise.withResolvers<void>();
    let [begun, stopped] = [false, false];
    const { dispatcher } = world.worker({
      queue: {
        schedules: async () => {
          begun = true;
          await looking.promise;
          return [];
        },
      },
    });
    dispatcher.start();
    await until(() => begun, 'a look');
    const stopping = dispatcher.stop(60_000).then(() => (stopped = true));
    await new Promise((resolve) => setImmediate(resolve));
    expect(stopped).toBe(false);
    looking.resolve();
    await stopping;
  });

  test('cuts off what takes too long and gives its lane back: the next worker need not wait for the lease', async () => {
    const webhookId = await world.subscribe(URL_A);
    const settings = { timeoutMs: 60_000, leaseMs: 600_000 };
    const { dispatcher, sender } = world.worker({ settings });
    sender.respond = () => NEVER;
    dispatcher.start();
    await world.enqueue(webhookId, [world.event('OP-1')]);
    dispatcher.wake([webhookId]);
    await until(() => sender.sent.length === 1, 'the attempt');
    await dispatcher.stop(20);
    expect(dispatcher.status()).toMatchObject({ state: 'stopped', inFlight: 0 });
    const next = world.worker({ settings });
    next.dispatcher.start();
    await world.untilDelivered(webhookId, 1);
    expect(next.sender.sent.map(({ attempt }) => attempt)).toEqual([1]);
  });
});

describe('when there is nothing to claim', () => {
  /** How often a worker asks the queue in the time in which another subscription's fifty deliveries go out one by one. */
  const claimsBeside = async (webhookId: string, queue: Partial<DeliveryQueue> = {}): Promise<number> => {
    const other = await world.subscribe('https://b.example/hooks');
    let claims = 0;
    const { dispatcher } = world.worker({
      queue: {
        lease: async (requests, ...rest) => {
          if (requests.some((request) => request.webhookId === webhookId)) claims += 1;
          return (queue.lease ?? world.queue.lease.bind(world.queue))(requests, ...rest);
        },
      },
    });
    dispatcher.start();
    dispatcher.wake([webhookId]);
    for (let sent = 1; sent <= 50; sent++) {
      await world.enqueue(other, [world.event(`OTHER-${sent}`)]);
      dispatcher.wake([other]);
      await world.untilDelivered(other, sent);
    }
    return claims;
  };

  test('events that wait for a paused subscription cost nothing', async () => {
    const webhookId = await world.subscribe(URL_A);
    await world.subscriptions.update(world.applicationId, webhookId, { status: 'paused' }, iso(1));
    await world.enqueue(webhookId, [world.event('OP-1')]);
    expect(await claimsBeside(webhookId)).toBeLessThanOrEqual(2);
  });

  test('a queue that calls something due and never hands it out is not asked over and over', async () => {
    const webhookId = await world.subscribe(URL_A);
    const claim: DeliveryQueue['lease'] = async (requests, ...rest) => {
      const { deliveries, schedules } = await world.queue.lease(requests, ...rest);
      return {
        deliveries,
        schedules: schedules.map((one) =>
          one.webhookId === webhookId ? { ...one, firstAttemptAt: iso(1) } : one,
        ),
      };
    };
    const startedAt = Date.now();
    const claims = await claimsBeside(webhookId, { lease: claim });
    expect(claims).toBeLessThanOrEqual(2 + (Date.now() - startedAt) / 500);
  });
});

describe('when things break inside', () => {
  test('a store that stays away is told of once a minute, not with each try', async () => {
    const webhookId = await world.subscribe(URL_A);
    let claims = 0;
    const { dispatcher } = world.worker({
      queue: {
        lease: (...args) => (++claims < 3 ? Promise.reject(new Error('full')) : world.queue.lease(...args)),
      },
    });
    dispatcher.start();
    await world.enqueue(webhookId, [world.event('OP-1')]);
    dispatcher.wake([webhookId]);
    await until(() => claims === 2, 'another try');
    expect(dispatcher.status().lastError).toBe('full');
    await world.untilDelivered(webhookId, 1);
    expect(world.logger.lines.map(({ message }) => message)).toEqual(['webhooks: cannot claim work']);
    expect(dispatcher.status().lastError).toBeUndefined();
  });

  test('a store that fails for a moment costs nothing', async () => {
    const webhookId = await world.subscribe(URL_A);
    let [claims, recordings] = [0, 0];
    const { dispatcher, sender } = world.worker({
      queue: {
        lease: (...args) =>
          ++claims === 1 ? Promise.reject(new Error('locked')) : world.queue.lease(...args),
        record: async (...args) => {
          recordings += 1;
          if (recordings === 1) throw new Error('locked');
          const recorded = await world.queue.record(...args);
          // The answer gets lost once: the same result is stored a second time.
          if (recordings === 2) throw new Error('outcome unknown');
          return recorded;
        },
      },
    });
    dispatcher.start();
    await world.enqueue(webhookId, [world.event('OP-1'), world.event('OP-1')]);
    dispatcher.wake([webhookId]);
    await world.untilDelivered(webhookId, 2);
    expect(sender.sent.map(({ eventId }) => eventId)).toEqual(['OP-1#0', 'OP-1#1']);
    const records = await world.records(webhookId);
    expect(records.map(({ attempts, attemptLog }) => [attempts, attemptLog.length])).toEqual([
      [1, 1],
      [1, 1],
    ]);
  });

  test('a worker that dies between the answer and its storing is replaced, and the attempt is made again', async () => {
    const webhookId = await world.subscribe(URL_A);
    const settings = { timeoutMs: 100, leaseMs: 300 };
    let alive = true;
    const dead = world.worker({
      settings,
      queue: {
        lease: async (...args) => (alive ? world.queue.lease(...args) : { deliveries: [], schedules: [] }),
        record: () => {
          alive = false;
          return new Promise(() => undefined);
        },
      },
    });
    dead.dispatcher.start();
    await world.enqueue(webhookId, [world.event('OP-1'), world.event('OP-1')]);
    dead.dispatcher.wake([webhookId]);
    await until(() => !alive, 'the death');
    const heir = world.worker({ settings: UNHURRIED });
    heir.dispatcher.start();
    await world.untilDelivered(webhookId, 2);
    expect(dead.sender.sent.map(({ eventId, attempt }) => `${eventId} ${attempt}`)).toEqual(['OP-1#0 1']);
    expect(heir.sender.sent.map(({ eventId, attempt }) => `${eventId} ${attempt}`)).toEqual([
      'OP-1#0 1',
      'OP-1#1 1',
    ]);
  });

  test('a worker that wakes up after its lease sends nothing and stores nothing', async () => {
    const webhookId = await world.subscribe(URL_A);
    let asleep = true;
    const sleeper = world.worker({
      settings: { timeoutMs: 100, leaseMs: 300 },
      queue: {
        lease: async (...args) => {
          const claim = await world.queue.lease(...args);
          await until(() => !asleep, 'waking up');
          return claim;
        },
      },
    });
    sleeper.dispatcher.start();
    await world.enqueue(webhookId, [world.event('OP-1')]);
    sleeper.dispatcher.wake([webhookId]);
    await until(async () => (await world.schedules())[0]?.firstAttemptAt !== undefined, 'the lease');
    const heir = world.worker({ settings: UNHURRIED });
    heir.dispatcher.start();
    await world.untilDelivered(webhookId, 1);
    asleep = false;
    await until(() => sleeper.dispatcher.status().inFlight === 0, 'the sleeper to let go');
    await sleeper.dispatcher.stop(1_000);
    expect(sleeper.sender.sent).toEqual([]);
    expect((await world.records(webhookId))[0]).toMatchObject({ attempts: 1, status: 'delivered' });
  });

  test('a late answer is refused, and counted', async () => {
    const webhookId = await world.subscribe(URL_A);
    let lost = 0;
    const settings = { timeoutMs: 100, leaseMs: 200 };
    const stalled = world.worker({ settings, metrics: { leaseLost: () => (lost += 1) } });
    let answer = (): void => undefined;
    stalled.sender.respond = () => new Promise((resolve) => (answer = () => resolve(DOWN)));
    stalled.dispatcher.start();
    await world.enqueue(webhookId, [world.event('OP-1')]);
    stalled.dispatcher.wake([webhookId]);
    await until(() => stalled.sender.sent.length === 1, 'the attempt');
    const heir = world.worker({ settings: UNHURRIED });
    heir.dispatcher.start();
    await world.untilDelivered(webhookId, 1);
    answer();
    await until(() => lost === 1, 'the refusal');
    expect((await world.records(webhookId))[0]).toMatchObject({
      status: 'delivered',
      attempts: 1,
      lastError: null,
    });
  });

  test('a secret that cannot be opened uses up no attempt', async () => {
    const webhookId = await world.subscribe(URL_A);
    const { dispatcher, sender } = world.worker({ settings: { timeoutMs: 100, leaseMs: 1_000 } });
    const update = (sealedSecret: string) =>
      world.subscriptions.update(world.applicationId, webhookId, { sealedSecret }, 'now');
    await update(BROKEN_SEAL);
    dispatcher.start();
    await world.enqueue(webhookId, [world.event('OP-1')]);
    dispatcher.wake([webhookId]);
    await until(() => world.logger.lines.some(({ level }) => level === 'error'), 'the complaint');
    await update('secret-9');
    await world.untilDelivered(webhookId, 1);
    expect(sender.sent.map(({ attempt }) => attempt)).toEqual([1]);
  });
});

describe('what was changed while a delivery waited for its turn', () => {
  const waiting = async () => {
    const webhookId = await world.subscribe(URL_A);
    const settings = { slotsPerEndpoint: 1, timeoutMs: 60_000, leaseMs: 90_000, knownForMs: 0 };
    const storing = Promise.withResolvers<void>();
    let stored = 0;
    const { dispatcher, sender } = world.worker({
      settings,
      // The slot is free while the first result is stored, so that another lane is leased.
      queue: {
        record: (...args) =>
          (stored++ === 0 ? storing.promise : Promise.resolve()).then(() => world.queue.record(...args)),
      },
    });
    const finishing = Promise.withResolvers<void>();
    sender.respond = ({ eventId }) => (eventId === 'OP-2#0' ? finishing.promise.then(() => OK) : OK);
    dispatcher.start();
    await world.enqueue(webhookId, [world.event('OP-1'), world.event('OP-1')]);
    dispatcher.wake([webhookId]);
    await until(() => stored === 1, 'the first attempt');
    await world.enqueue(webhookId, [world.event('OP-2')]);
    dispatcher.wake([webhookId]);
    await until(() => sender.sent.length === 2, 'the second attempt');
    storing.resolve();
    await until(async () => (await world.records(webhookId, 'delivered')).length === 1, 'the first result');
    await new Promise((resolve) => setImmediate(resolve));
    const change = (to: Parameters<typeof world.subscriptions.update>[2]) =>
      world.subscriptions.update(world.applicationId, webhookId, to, iso(1));
    return { webhookId, sender, dispatcher, change, finish: () => finishing.resolve() };
  };

  test('holds for its attempt: a new secret signs it, and it goes to a new address', async () => {
    const { webhookId, sender, change, finish } = await waiting();
    await change({ sealedSecret: 'secret-2', url: 'https://moved.example/' });
    finish();
    await world.untilDelivered(webhookId, 3);
    expect(sender.sent.map((one) => [one.eventId, one.url, secretOf(one)])).toEqual([
      ['OP-1#0', URL_A, 'secret-1'],
      ['OP-2#0', URL_A, 'secret-1'],
      ['OP-1#1', 'https://moved.example/', 'secret-2'],
    ]);
  });

  test('holds it back where that is a pause, and resumed it goes out', async () => {
    const { webhookId, sender, dispatcher, change, finish } = await waiting();
    await change({ status: 'paused' });
    finish();
    await until(() => dispatcher.status().inFlight === 0, 'all lanes to be given back');
    expect(sender.sent).toHaveLength(2);
    await change({ status: 'active' });
    dispatcher.wake([webhookId]);
    await world.untilDelivered(webhookId, 3);
  });

  test.each(['lease', 'record'] as const)(
    'holds however long the store took to answer: %s',
    async (asked) => {
      const webhookId = await world.subscribe(URL_A);
      const knownForMs = 50;
      const late = <Answer>(answer: Answer): Promise<Answer> =>
        world.subscriptions
          .update(world.applicationId, webhookId, { sealedSecret: 'secret-2' }, iso(1))
          .then(() => pause(knownForMs))
          .then(() => answer);
      const { dispatcher, sender } = world.worker({
        settings: { ...UNHURRIED, knownForMs },
        queue: {
          lease: async (...args) => {
            const leased = await world.queue.lease(...args);
            return asked === 'lease' && leased.deliveries.length > 0 ? late(leased) : leased;
          },
          record: async (...args) => {
            const recorded = await world.queue.record(...args);
            return asked === 'record' && recorded[0]!.kind === 'next' ? late(recorded) : recorded;
          },
        },
      });
      await world.enqueue(webhookId, [world.event('OP-1'), world.event('OP-1')]);
      dispatcher.start();
      await world.untilDelivered(webhookId, 2);
      expect(sender.sent.map(secretOf)).toEqual([asked === 'lease' ? 'secret-2' : 'secret-1', 'secret-2']);
    },
  );
});
