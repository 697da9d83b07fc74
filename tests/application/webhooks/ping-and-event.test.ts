import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import { openServiceDatabase } from '../../support/sql/temporary-database.ts';
import { FUND, ManagementWorld, OTHER_FUND, refusedWith } from './support/management-world.ts';

let world: ManagementWorld;
const database = await openServiceDatabase();
beforeEach(() => {
  world = new ManagementWorld(database.database);
});
afterAll(() => database.close());

const claim = async (webhookId: string) => {
  const request = { webhookId, firstAttempts: 10, retries: 10 };
  return (await world.queue.lease([request], world.clock.now(), later(60_000))).deliveries;
};
const later = (ms: number): string => new Date(Date.parse(world.clock.now()) + ms).toISOString();

describe('a ping on demand', () => {
  test('goes to this subscription alone, whatever it asks for, in production as well', async () => {
    const { webhook } = await world.create({ events: ['loan_rejected'], fundIds: [FUND] });
    const other = await world.create();
    const { eventId, deliveries } = await world.management.deliveries.ping(world.context, webhook.webhookId);
    expect(deliveries).toEqual([
      { webhookId: webhook.webhookId, deliveryId: expect.any(String), attempt: 1 },
    ]);
    expect(world.queued).toEqual([webhook.webhookId]);
    const [sent] = await claim(webhook.webhookId);
    expect(sent).toMatchObject({ deliveryId: deliveries[0]!.deliveryId, attempt: 1, redelivery: false });
    expect(JSON.parse(sent!.event.body)).toMatchObject({ event: 'webhook.ping', event_id: eventId });
    expect(await claim(other.webhook.webhookId)).toEqual([]);
  });

  test('each waits for nothing: neither for one before it nor for an operation', async () => {
    const { webhook } = await world.create();
    await world.enqueue(webhook.webhookId, world.event());
    await world.enqueue(webhook.webhookId, world.event({ sequence: 1 }));
    for (let i = 0; i < 3; i++) await world.management.deliveries.ping(world.context, webhook.webhookId);
    const names = (await claim(webhook.webhookId)).map(({ event }) => event.name).sort();
    expect(names).toEqual(['loan_received', 'webhook.ping', 'webhook.ping', 'webhook.ping']);
  });

  test('of a paused subscription, of none and of another application’s is refused', async () => {
    const { webhook } = await world.create();
    const { webhookId } = webhook;
    await expect(world.management.deliveries.ping(world.stranger(), webhookId)).rejects.toEqual(
      refusedWith('webhook_not_found'),
    );
    await world.management.pause(world.context, webhookId);
    await expect(world.management.deliveries.ping(world.context, webhookId)).rejects.toEqual(
      refusedWith('webhook_invalid_state'),
    );
    await world.management.remove(world.context, webhookId);
    await expect(world.management.deliveries.ping(world.context, webhookId)).rejects.toEqual(
      refusedWith('webhook_not_found'),
    );
  });
});

describe('an event that is followed', () => {
  const limitedTo = (fund: string) => ({ ...world.context, onlyFundIds: [fund] });

  test('shows its frozen body, and every attempt at each subscription with the answer', async () => {
    const [one, two] = [await world.create(), await world.create()];
    const event = world.event({ body: '{"event":"loan_received", "odd":  1.00}' });
    for (const { webhook } of [one, two]) await world.enqueue(webhook.webhookId, event);
    const [delivery] = await claim(one.webhook.webhookId);
    const at = world.clock.now();
    const failed = { attempt: 1, at, durationMs: 7, responseStatus: 500, error: 'answered 500' };
    const record = { ...failed, responseBody: 'no such customer' };
    const verdict = { kind: 'retry', at: later(30_000) } as const;
    const result = { delivery: delivery!, record, verdict, keepLane: false, noteHealth: true };
    await world.queue.record([result], at, later(60_000));
    const report = await world.management.deliveries.event(limitedTo(FUND), event.eventId);
    expect(report).toMatchObject({ eventId: event.eventId, event: 'loan_received', body: event.body });
    expect(report.deliveries).toMatchObject([
      { webhookId: one.webhook.webhookId, status: 'retrying', attempts: 1, attemptLog: [record] },
      { webhookId: two.webhook.webhookId, status: 'pending', attempts: 0, attemptLog: [] },
    ]);
    await world.management.remove(world.context, one.webhook.webhookId);
    const left = await world.management.deliveries.event(world.context, event.eventId);
    expect(left.deliveries.map(({ webhookId }) => webhookId)).toEqual([two.webhook.webhookId]);
  });

  test('to which nobody subscribed comes from the log, with an empty list', async () => {
    const { eventId, body } = (world.published = { ...world.event(), fundId: FUND, code: 'OP-1' });
    expect(await world.management.deliveries.event(world.context, eventId)).toEqual({
      ...{ eventId, event: 'loan_received', body },
      deliveries: [],
    });
    await expect(world.management.deliveries.event(limitedTo(OTHER_FUND), eventId)).rejects.toEqual(
      refusedWith('event_not_found'),
    );
  });

  test('to which nobody subscribed is sent to those that match now', async () => {
    const event = (world.published = { ...world.event(), fundId: FUND, code: 'OP-1' });
    const redelivered = (context: typeof world.context) =>
      world.management.deliveries.redeliver(context, event.eventId);
    await expect(redelivered(world.context)).rejects.toEqual(refusedWith('webhook_invalid_state'));
    const { webhookId } = (await world.create()).webhook;
    await world.create({ events: ['loan_approved'] });
    await expect(redelivered(limitedTo(OTHER_FUND))).rejects.toEqual(refusedWith('event_not_found'));
    const { deliveries } = await redelivered(world.context);
    expect(deliveries).toMatchObject([{ webhookId, attempt: 1 }]);
    expect(await claim(webhookId)).toMatchObject([{ event: { body: event.body }, redelivery: true }]);
    expect((await redelivered(world.context)).deliveries).toMatchObject([{ webhookId, attempt: 2 }]);
  });

  test('of another application or another fund, a ping to a client of some funds, and none at all are not there', async () => {
    const { webhook } = await world.create();
    const event = world.event();
    await world.enqueue(webhook.webhookId, event);
    const ping = await world.management.deliveries.ping(world.context, webhook.webhookId);
    for (const [context, id] of [
      [world.stranger(), event.eventId],
      [limitedTo(OTHER_FUND), event.eventId],
      [limitedTo(FUND), ping.eventId],
      [world.context, 'unknown'],
    ] as const) {
      await expect(world.management.deliveries.event(context, id)).rejects.toEqual(
        refusedWith('event_not_found'),
      );
    }
    expect((await world.management.deliveries.event(world.context, ping.eventId)).event).toBe('webhook.ping');
  });
});
