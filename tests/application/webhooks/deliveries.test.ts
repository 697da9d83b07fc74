import { randomUUID } from 'node:crypto';
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import { openServiceDatabase } from '../../support/sql/temporary-database.ts';
import { FUND, ManagementWorld, OTHER_FUND, RECEIVER, refusedWith } from './support/management-world.ts';

let world: ManagementWorld;
const store = await openServiceDatabase();
afterAll(() => store.close());
beforeEach(() => {
  world = new ManagementWorld(store.database);
});

describe('listing deliveries', () => {
  test.each([
    ['2026-01-15T12:00:01Z', ['OP-1']],
    ['2026-01-15T09:00:01-03:00', ['OP-1']],
    ['2026-01-15t12:00:00.000z', ['OP-1', 'OP-0']],
    ['2026-01-15T12:00:00.0000001Z', ['OP-1', 'OP-0']],
  ])('since %s', async (since, codes) => {
    const { webhook } = await world.create();
    for (const code of ['OP-0', 'OP-1']) {
      await world.enqueue(webhook.webhookId, world.event({ code }));
      world.clock.advance(1_000);
    }
    const page = await world.management.deliveries.page(world.context, webhook.webhookId, {
      since,
      limit: 10,
    });
    expect(page.deliveries.map((delivery) => delivery.code)).toEqual(codes);
  });

  test.each([
    'yesterday',
    '2026-01-15',
    '2026-02-30T00:00:00Z',
    '2026-01-15T25:00:00Z',
    '2026-01-15T12:00:00',
    '',
  ])('since "%s" is refused', async (since) => {
    const { webhook } = await world.create();
    const listing = world.management.deliveries.page(world.context, webhook.webhookId, { since, limit: 10 });
    await expect(listing).rejects.toEqual(refusedWith('invalid_query_parameter'));
  });
});

describe('choosing deliveries', () => {
  test('by operation, by event and by name, for a client and for an operator', async () => {
    const { webhook } = await world.create();
    const { webhookId, applicationId } = webhook;
    const events = ['OP-1', 'OP-1', 'OP-2'].map((code, index) =>
      world.event({ code, name: index === 0 ? 'loan_received' : 'loan_approved' }),
    );
    for (const event of events) await world.enqueue(webhookId, event);
    const [first, second, third] = events.map(({ eventId }) => eventId);
    world.told.set(`${applicationId} OP-1`, [first!, second!]);
    const { deliveries } = world.management;
    const chosen = async (search: object) => {
      const page = await deliveries.page(world.context, webhookId, { limit: 10, ...search });
      const found = [];
      for await (const one of deliveries.search(webhookId, { limit: 10, ...search })) found.push(one.eventId);
      expect(page.deliveries.map(({ eventId }) => eventId)).toEqual(found);
      return found;
    };
    expect(await chosen({ code: 'OP-1' })).toEqual([second, first]);
    expect(await chosen({ code: 'OP-1', events: ['loan_received'] })).toEqual([first]);
    expect(await chosen({ code: 'OP-1', eventId: second })).toEqual([second]);
    expect(await chosen({ code: 'OP-1', eventId: third })).toEqual([]);
    expect(await chosen({ eventId: third })).toEqual([third]);
    expect(await chosen({ events: ['loan_approved'] })).toEqual([third, second]);
    expect(await chosen({ code: 'NEVER' })).toEqual([]);
    const mine = { ...world.context, onlyFundIds: [OTHER_FUND] };
    const page = await deliveries.page(mine, webhookId, { limit: 10, code: 'OP-1' });
    expect(page).toEqual({ deliveries: [], nextCursor: null });
  });
});

describe('sending again', () => {
  test('goes to every subscription that matches and is not paused, and wakes the sender', async () => {
    const [all, named, another, paused, elsewhere] = [
      await world.create(),
      await world.create({ events: ['loan_received'], fundIds: [FUND] }),
      await world.create({ events: ['loan_approved'] }),
      await world.create(),
      await world.create({ fundIds: [OTHER_FUND] }),
    ].map(({ webhook }) => webhook.webhookId);
    const one = world.event();
    await world.enqueue(all!, one);
    await world.enqueue(another!, one);
    await world.management.pause(world.context, paused!);
    const receipt = await world.management.deliveries.redeliver(world.context, one.eventId);
    expect(receipt.eventId).toBe(one.eventId);
    expect(new Set(receipt.deliveries.map(({ webhookId }) => webhookId))).toEqual(new Set([all, named]));
    expect(new Set(world.queued)).toEqual(new Set([all, named]));
    expect([another, paused, elsewhere].some((webhookId) => world.queued.includes(webhookId!))).toBe(false);
  });

  test('a ping goes only to the registration that it is about', async () => {
    const { webhook } = await world.sandbox.create(world.context, {
      url: RECEIVER,
      events: ['loan_approved'],
    });
    await world.create();
    const { deliveries } = await world.management.deliveries.page(world.context, webhook.webhookId, {
      limit: 1,
    });
    const receipt = await world.management.deliveries.redeliver(world.context, deliveries[0]!.eventId);
    expect(receipt.deliveries.map(({ webhookId }) => webhookId)).toEqual([webhook.webhookId]);
  });

  test('is refused when nobody can get it', async () => {
    const { webhook } = await world.create();
    const one = world.event();
    await world.enqueue(webhook.webhookId, one);
    await world.management.pause(world.context, webhook.webhookId);
    const refused = () => world.management.deliveries.redeliver(world.context, one.eventId);
    await expect(refused()).rejects.toEqual(refusedWith('webhook_invalid_state'));
    await world.management.remove(world.context, webhook.webhookId);
    await expect(refused()).rejects.toEqual(refusedWith('webhook_invalid_state'));
  });

  test('knows no event of another application, and none that never was', async () => {
    const { webhook } = await world.create();
    const one = world.event();
    await world.enqueue(webhook.webhookId, one);
    const unknown = refusedWith('event_not_found');
    await expect(world.management.deliveries.redeliver(world.stranger(), one.eventId)).rejects.toEqual(
      unknown,
    );
    await expect(world.management.deliveries.redeliver(world.context, randomUUID())).rejects.toEqual(unknown);
    await expect(world.management.deliveries.redeliver(world.context, 'not even an id')).rejects.toEqual(
      unknown,
    );
  });
});
