import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { StoreUnavailableError } from '../../../application/ports/event-store.ts';
import { SqlKeyStore } from '../../../application/coordination/key-store.ts';
import { PostgresDatabase } from '../../../infrastructure/postgres/postgres-database.ts';
import type { Statement } from '../../../application/sql/sql-database.ts';
import { EnqueueStatements, GIVING_EVENTS } from '../../../application/webhooks/queue/enqueue.ts';
import { onceMore } from '../../../application/webhooks/queue/redeliver.ts';
import { WebhookSubscriptions } from '../../../application/webhooks/subscriptions.ts';
import { notAlone } from '../../../application/sql/engine.ts';
import { DELIVERED, LEASE_MS, Story, at, queueOn } from '../../contracts/delivery-queue-samples.ts';
import type { QueueUnderTest } from '../../contracts/delivery-queue-samples.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { bothSets, openPostgres, query, raw, testPostgres } from '../../support/postgres/test-postgres.ts';
import type { PostgresFixture, TestPostgres } from '../../support/postgres/test-postgres.ts';
import { until } from '../../support/within.ts';

const PATIENT_MS = 60_000;
const ROUNDS = 60;

let postgres: TestPostgres;
let fixture: PostgresFixture;
/** What another process has of the same tables. */
let other: PostgresDatabase;
beforeAll(async () => {
  postgres = await testPostgres();
  fixture = await openPostgres(postgres, bothSets);
  other = await PostgresDatabase.open({ url: fixture.url, logger: fixture.logger });
});
afterAll(async () => {
  await other.close();
  await fixture.close();
  await postgres.close();
});

/** A transaction that has run these statements and not ended yet. */
const open = async (statements: readonly Statement[]): Promise<{ commit(): Promise<void> }> => {
  const client = new Client({ connectionString: fixture.url });
  await client.connect();
  await client.query('begin');
  for (const { query: one } of statements) await client.query(one.sql, [...one.parameters]);
  return {
    commit: async () => {
      await client.query('commit');
      await client.end();
    },
  };
};

/** Until so many transactions of this test wait for a lock. */
const untilWaiting = async (count = 1): Promise<void> => {
  const waiting = query<{ n: number }>(
    `select count(*) as n from pg_stat_activity where wait_event_type = 'Lock' and state = 'active'`,
  );
  await until(async () => (await other.read(waiting))[0]!.n >= count, `${count} wait`, PATIENT_MS);
};

describe('deliveries of two processes', () => {
  test('a lane given back just as something is queued for it stays open', async () => {
    const story = new Story(queueOn(fixture.database));
    const webhookId = await story.subscribe();
    await story.enqueue(webhookId, [story.event('OP-1')]);
    const { lease } = await story.leaseOne(webhookId);
    await fixture.database.transaction([
      raw('update webhook_delivery set waiting_lane = null where webhook_id = $1', webhookId),
    ]);
    const event = story.event('OP-1');
    const { statements } = new EnqueueStatements(other.builder).inLanes([{ webhookId, event }], at(0));
    const queueing = await open(statements);
    const released = story.adapter.queue.release([lease], at(0));
    await untilWaiting();
    await queueing.commit();
    await released;
    expect((await story.leaseOne(webhookId)).event.eventId).toBe(event.eventId);
  });

  test('a claim passes over what another is claiming instead of waiting for it', async () => {
    const story = new Story(queueOn(fixture.database));
    const webhookId = await story.subscribe();
    for (const code of ['OP-1', 'OP-2', 'OP-3']) await story.enqueue(webhookId, [story.event(code)]);
    const claiming = await open([
      raw(`select lane from webhook_lane where webhook_id = $1 and lane = 'OP-2' for update`, webhookId),
    ]);
    const claimed = await story.lease(webhookId);
    expect(claimed.map(({ lease }) => lease.lane).sort()).toEqual(['OP-1', 'OP-3']);
    await claiming.commit();
    expect((await story.leaseOne(webhookId)).lease.lane).toBe('OP-2');
  });

  test('an event that gets a new delivery while the old ones are removed stays', async () => {
    const story = new Story(queueOn(fixture.database));
    const [webhookId, second] = [await story.subscribe(), await story.subscribe()];
    const event = story.event('OP-1');
    await story.enqueue(webhookId, [event]);
    await story.deliver(await story.leaseOne(webhookId));
    const { statements } = new EnqueueStatements(other.builder).inLanes(
      [{ webhookId: second, event }],
      at(0),
    );
    const queueing = await open([...notAlone(other, GIVING_EVENTS), ...statements]);
    const before = at(1_000);
    const cleaned = story.adapter.queue.cleanUp({
      deliveredBefore: before,
      failedBefore: before,
      removedBefore: before,
      limit: 1_000,
    });
    await untilWaiting();
    await queueing.commit();
    expect(await cleaned).toBeGreaterThan(0);
    expect((await story.leaseOne(second)).event).toEqual(event);
  });

  test('a delivery that is to be sent once more stays, although its removal has begun', async () => {
    const story = new Story(queueOn(fixture.database));
    const webhookId = await story.subscribe();
    const event = story.event('OP-1');
    await story.enqueue(webhookId, [event]);
    await story.deliver(await story.leaseOne(webhookId));
    const repeated = [{ webhookId, eventId: event.eventId, lane: 'OP-1' }];
    const asking = await open(onceMore(other.builder, repeated, at(10)));
    const old = { deliveredBefore: at(1_000), failedBefore: at(0), removedBefore: at(0), limit: 1_000 };
    const cleaned = story.adapter.queue.cleanUp(old);
    await untilWaiting();
    await asking.commit();
    expect(await cleaned).toBeGreaterThan(0);
    const sent = await story.leaseOne(webhookId, 10);
    expect(sent).toMatchObject({ event, attempt: 2 });
    await story.record(sent, DELIVERED, 20);
    expect((await story.recordOf(webhookId, event)).attemptLog).toHaveLength(2);
  });

  test('while the removal of old ones waits for a long transaction, others are queued all the same', async () => {
    const story = new Story(queueOn(fixture.database));
    const webhookId = await story.subscribe();
    await story.enqueue(webhookId, [story.event('OP-old')]);
    await story.record(await story.leaseOne(webhookId), DELIVERED);
    const long = await open(notAlone(fixture.database, GIVING_EVENTS));
    const old = { deliveredBefore: at(1_000), failedBefore: at(0), removedBefore: at(0), limit: 10 };
    let removing = true;
    const removal = queueOn(other)
      .queue.cleanUp(old)
      .finally(() => (removing = false));
    const refused = expect(removal).rejects.toThrow(StoreUnavailableError);
    let queued = 0;
    while (removing) queued += await story.enqueue(webhookId, [story.event(`OP-${queued}`)], 1_000);
    await refused;
    expect(queued).toBeGreaterThan(1);
    await long.commit();
    expect(await queueOn(other).queue.cleanUp(old)).toBeGreaterThan(0);
  });

  test('two workers deliver everything once and in order, whatever else goes on', async () => {
    const [here, there] = [queueOn(fixture.database), queueOn(other)];
    const story = new Story(here);
    const webhookIds = await Promise.all([story.subscribe(), story.subscribe(), story.subscribe()]);
    const codes = Array.from({ length: 6 }, (_, n) => `OP-${n}`);
    const EVENTS = 12;
    const planned = codes.map((code) => story.events(code, EVENTS));
    const arrived = new Map<string, string[]>();
    const total = webhookIds.length * codes.length * EVENTS;
    let delivered = 0;

    const feed = async (adapter: QueueUnderTest, mine: (index: number) => boolean): Promise<void> => {
      for (let n = 0; n < EVENTS; n++) {
        const batch = planned.filter((_, index) => mine(index)).map((events) => events[n]!);
        const deliveries = batch.flatMap((event) => webhookIds.map((webhookId) => ({ webhookId, event })));
        await adapter.queue.enqueue(n % 2 ? deliveries : deliveries.toReversed(), at(0));
      }
    };
    const deadline = Date.now() + PATIENT_MS;
    const work = async ({ queue }: QueueUnderTest): Promise<void> => {
      while (delivered < total && Date.now() < deadline) {
        const requests = webhookIds.map((webhookId) => ({ webhookId, firstAttempts: 3, retries: 3 }));
        let { deliveries } = await queue.lease(requests, at(0), at(LEASE_MS));
        while (deliveries.length > 0) {
          for (const { event, lease } of deliveries) {
            const lane = `${lease.webhookId} ${lease.lane}`;
            arrived.set(lane, [...(arrived.get(lane) ?? []), event.eventId]);
            delivered += 1;
          }
          const results = deliveries.map((delivery) => ({
            ...story.result(delivery, DELIVERED, 0, true),
            keepLane: Math.random() < 0.7,
          }));
          const recorded = await queue.record(results.toReversed(), at(0), at(LEASE_MS));
          expect(recorded.map(({ kind }) => kind)).not.toContain('lease_lost');
          deliveries = recorded.flatMap((one) => (one.kind === 'next' ? [one.delivery] : []));
        }
      }
    };
    await Promise.all([
      feed(here, (index) => index % 2 === 0),
      feed(there, (index) => index % 2 === 1),
      ...[here, here, there, there].map(work),
    ]);
    expect(delivered).toBe(total);
    const wanted = planned.map((events) => events.map(({ eventId }) => eventId));
    for (const webhookId of webhookIds) {
      expect(codes.map((code) => arrived.get(`${webhookId} ${code}`))).toEqual(wanted);
    }
    const lanes = await other.read(
      query(
        "select lane from webhook_lane where webhook_id = any (string_to_array($1, ','))",
        webhookIds.join(),
      ),
    );
    expect(lanes).toEqual([]);
  });
});

describe('keys of two processes', () => {
  test('a key that is put while another forgets it is one of both', async () => {
    const [here, there] = [fixture.database, other].map((one) => new SqlKeyStore(one, new ManualClock()));
    const name = randomUUID();
    for (let round = 0; round < ROUNDS; round++) {
      await here!.putIfAbsent(name, 'old');
      const [put] = await Promise.all([here!.putIfAbsent(name, 'new'), there!.delete(name)]);
      expect(['old', 'new']).toContain(put);
      await there!.delete(name);
    }
  });
});

describe('subscriptions of two processes', () => {
  test('the last place of an application is taken once', async () => {
    const applicationId = randomUUID();
    const story = new Story(queueOn(fixture.database));
    const subscription = {
      applicationId,
      url: 'https://receiver.example/hooks',
      events: ['*'],
      fundIds: null,
      description: null,
      sealedSecret: 'sealed',
      createdAt: at(0),
    };
    const [here, there] = [fixture.database, other].map((one) => new WebhookSubscriptions(one));
    // Its ping has to wait, so that the other comes before its end.
    const before = await open([raw('lock table webhook_event in share mode')]);
    const ping = story.event('ping', { code: null, fundId: null });
    const first = here!.add({ ...subscription, webhookId: randomUUID(), ping }, 1);
    await untilWaiting(1);
    const second = there!.add({ ...subscription, webhookId: randomUUID() }, 1);
    await Promise.race([second, untilWaiting(2)]);
    await before.commit();
    expect(await Promise.all([first, second])).toEqual([true, false]);
  });
});
