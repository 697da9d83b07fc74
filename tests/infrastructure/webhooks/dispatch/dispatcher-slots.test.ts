import { afterAll, afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { openServiceDatabase } from '../../../support/sql/temporary-database.ts';
import { DispatchWorld, NEVER, OK, REFUSED } from '../support/dispatch-world.ts';
import { until } from '../../../support/within.ts';

const URL_B = 'https://b.example/hooks';

let world: DispatchWorld;
const store = await openServiceDatabase();
afterAll(() => store.close());
beforeEach(() => {
  world = new DispatchWorld(store.database);
});
afterEach(() => world.close());

const range = (count: number, prefix = 'OP'): string[] =>
  Array.from({ length: count }, (_, i) => `${prefix}-${i}`);

describe('the dispatcher', () => {
  test('keeps slots free from endpoints that answer slowly, however many they are', async () => {
    const slow = await Promise.all(range(9).map((name) => world.subscribe(`https://${name}.example/`)));
    const quick = await world.subscribe(URL_B);
    let aheadMs = 0;
    const { dispatcher, sender } = world.worker({
      settings: { slots: 8, slotsPerEndpoint: 4, timeoutMs: 60_000, leaseMs: 90_000 },
      now: () => Date.now() + aheadMs,
    });
    sender.respond = ({ url }) => {
      if (url === URL_B) return OK;
      aheadMs += 1_000;
      return sender.idsTo(url).length === 1 ? OK : NEVER;
    };
    dispatcher.start();
    for (const webhookId of slow) await world.enqueue(webhookId, [world.event('OP-1')]);
    dispatcher.wake(slow);
    for (const webhookId of slow) await world.untilDelivered(webhookId, 1);
    for (const webhookId of slow)
      await world.enqueue(webhookId, [world.event('OP-2'), world.event('OP-3'), world.event('OP-4')]);
    dispatcher.wake(slow);
    await until(() => sender.sent.length === 9 + 6, 'the slow ones to fill their share');
    await world.enqueue(quick, [world.event('OP-5'), world.event('OP-6')]);
    dispatcher.wake([quick]);
    await world.untilDelivered(quick, 2, 10_000);
    expect(sender.sent).toHaveLength(9 + 6 + 2);
  });

  test('keeps slots free from endpoints that were quick and hang all at once', async () => {
    const hanging = await Promise.all(range(13).map((name) => world.subscribe(`https://${name}.example/`)));
    const fine = await world.subscribe(URL_B);
    const { dispatcher, sender } = world.worker({
      settings: { slots: 32, slotsPerEndpoint: 8, timeoutMs: 60_000, leaseMs: 90_000 },
    });
    dispatcher.start();
    for (const webhookId of hanging) await world.enqueue(webhookId, [world.event('FIRST')]);
    dispatcher.wake(hanging);
    for (const webhookId of hanging) await world.untilDelivered(webhookId, 1);
    sender.respond = ({ url }) => (url === URL_B ? OK : NEVER);
    for (const webhookId of hanging)
      await world.enqueue(
        webhookId,
        range(20).map((code) => world.event(code)),
      );
    dispatcher.wake(hanging);
    await until(
      () => hanging.every((_, i) => sender.idsTo(`https://OP-${i}.example/`).length > 1),
      'all of them to hang',
    );
    await world.enqueue(
      fine,
      range(20, 'F').map((code) => world.event(code)),
    );
    dispatcher.wake([fine]);
    await world.untilDelivered(fine, 20, 10_000);
  });

  test('keeps slots free from endpoints that never answered, also at the start', async () => {
    const silent = await Promise.all(range(10).map((name) => world.subscribe(`https://${name}.example/`)));
    const fine = await world.subscribe(URL_B);
    const { dispatcher, sender } = world.worker({
      settings: { slots: 16, slotsPerEndpoint: 8, timeoutMs: 60_000, leaseMs: 90_000 },
    });
    sender.respond = ({ url }) => (url === URL_B ? OK : NEVER);
    for (const webhookId of silent) {
      await world.enqueue(
        webhookId,
        range(20).map((code) => world.event(code)),
      );
    }
    dispatcher.start();
    await until(
      () => silent.every((_, i) => sender.idsTo(`https://OP-${i}.example/`).length > 0),
      'all to be tried',
    );
    await world.enqueue(
      fine,
      range(20, 'F').map((code) => world.event(code)),
    );
    dispatcher.wake([fine]);
    await world.untilDelivered(fine, 20);
  });

  test('keeps slots free from retries, so that first attempts go out at once', async () => {
    const webhooks = await Promise.all(range(6).map((name) => world.subscribe(`https://${name}.example/`)));
    const fresh = await world.subscribe(URL_B);
    const { dispatcher, sender } = world.worker({
      settings: {
        slots: 8,
        slotsForFirstAttempts: 4,
        slotsPerEndpoint: 4,
        timeoutMs: 60_000,
        leaseMs: 90_000,
      },
    });
    sender.respond = ({ attempt, url }) => (url === URL_B ? OK : attempt === 1 ? REFUSED : NEVER);
    dispatcher.start();
    for (const [index, webhookId] of webhooks.entries()) {
      await world.enqueue(
        webhookId,
        range(2, `R${index}`).map((code) => world.event(code)),
      );
    }
    dispatcher.wake(webhooks);
    const retries = () => sender.sent.filter(({ attempt }) => attempt === 2).length;
    await until(() => retries() === 4, 'retries in all slots they may have');
    await world.enqueue(
      fresh,
      range(20, 'F').map((code) => world.event(code)),
    );
    dispatcher.wake([fresh]);
    await world.untilDelivered(fresh, 20);
    expect(retries()).toBe(4);
  });
});
