import { afterAll, expect, test } from '@jest/globals';
import { CompiledQuery } from 'kysely';
import { laneStatements } from '../../../../application/webhooks/queue/lanes.ts';
import { DeliveryLag } from '../../../../application/webhooks/queue/floors.ts';
import { DeliveryLog } from '../../../../application/webhooks/delivery-log.ts';
import { DeliveryQueue } from '../../../../application/webhooks/queue/delivery-queue.ts';
import { RangeRedeliveries } from '../../../../application/webhooks/queue/range-redeliveries.ts';
import { WebhookDesk } from '../../../../application/webhooks/webhook-desk.ts';
import type { LaneLease } from '../../../../application/webhooks/queue/lane-heads.ts';
import type { SqlDatabase } from '../../../../application/sql/sql-database.ts';
import type { LogPosition } from '../../../../application/ports/event-store.ts';
import { ConsumerOffsets } from '../../../../application/processors/consumer-offsets.ts';
import { SqlProjectionStore } from '../../../../application/projecting/projection-store.ts';
import { WebhookSubscriptions } from '../../../../application/webhooks/subscriptions.ts';
import type { TableWrite } from '../../../../projections/projection.ts';
import { DELIVERED, FAILED, LEASE_MS, Story, at } from '../../../contracts/delivery-queue-samples.ts';
import { openReadModel, openServiceDatabase } from '../../../support/sql/temporary-database.ts';

const CURSOR = '01890000-0000-7000-8000-000000000000';

const store = await openServiceDatabase();
afterAll(() => store.close());

interface Step {
  readonly detail: string;
}

const planOf = async ({ sql, parameters }: CompiledQuery): Promise<readonly string[]> => {
  const explain = CompiledQuery.raw(`explain query plan ${sql}`, [...parameters]) as CompiledQuery<Step>;
  const steps = await store.database.read({ compile: () => explain });
  return steps.map(({ detail }) => detail);
};

/** Whatever reads a table of deliveries, events or lanes from one end to the other. */
const scans = (plan: readonly string[]): readonly string[] =>
  plan.filter(
    (step) => /^SCAN (?!s$|\(|page|lease$|ended$|(\d+ )?CONSTANT)/.test(step) || step.includes('TEMP B-TREE'),
  );

/** Whatever reads everything that one subscription has in a table. */
const readsAllOfOne = (plan: readonly string[]): readonly string[] =>
  plan.filter((step) => /USING (PRIMARY KEY|INDEX webhook_\S+) \(webhook_id=\?\)/.test(step));

const newStory = (queue = new DeliveryQueue(store.database)): Story => {
  const { database } = store;
  const [log, lag] = [new DeliveryLog(database), new DeliveryLag(database)];
  return new Story({ queue, log, lag, subscriptions: new WebhookSubscriptions(database) });
};

/** Lets the queries of an adapter through and keeps them. */
const recording = (queries: CompiledQuery[]): SqlDatabase => ({
  ...store.database,
  dialect: 'sqlite',
  builder: store.database.builder,
  read: (query) => {
    queries.push(query.compile());
    return store.database.read(query);
  },
  snapshot: (all) => {
    queries.push(...(all as readonly { compile(): CompiledQuery }[]).map((query) => query.compile()));
    return store.database.snapshot(all);
  },
  transaction: (statements) => {
    queries.push(...statements.map(({ query }) => query));
    return store.database.transaction(statements);
  },
  close: () => Promise.resolve(),
});

test('no statement on a lane looks at other lanes than it has to', async () => {
  const lanes = laneStatements(store.database);
  const place = { webhook_id: 'w', tier: 0, floor: 'f', now: 'n', lease_until: 'l', token: 't' };
  const lease = { webhookId: 'w', lane: 'OP-1', token: 't', until: 'u' };
  const statements = [
    lanes.leaseDue({ ...place, limit: 16 }),
    lanes.leasedHeads(place),
    lanes.firstReady({ webhook_id: 'w', tier: 1, floor: 'f' }),
    lanes.reclaim({ webhook_id: 'w', floor: 'f', now: 'n', limit: 16 }),
    lanes.endpoint({ webhook_id: 'w' }),
    lanes.nudge({ webhook_id: 'w', lane: 'OP-1', now: 'n' }),
    lanes.end(lease).query,
    ...[1, 2, 64].flatMap((count) => {
      const leases = Array<LaneLease>(count).fill(lease);
      const { emptied, heads } = lanes.goOn(leases, 'n');
      const redeliveries = leases.map((one) => ({ ...one, lane: '/redelivery/d/2' }));
      return [
        ...[lanes.guard(leases), emptied, heads, lanes.renew(leases, 'l')],
        ...[lanes.handBack(leases, 'n'), lanes.handBack(redeliveries, 'n')],
      ].flatMap((some) => some.map(({ query }) => query));
    }),
  ];
  for (const statement of statements) {
    const plan = await planOf(statement);
    expect([statement.sql, scans(plan), readsAllOfOne(plan)]).toEqual([statement.sql, [], []]);
  }
});

test('claims find due lanes in the order of the index', async () => {
  const lanes = laneStatements(store.database);
  const plan = await planOf(
    lanes.leaseDue({
      webhook_id: 'w',
      tier: 0,
      floor: 'f',
      now: 'n',
      lease_until: 'l',
      token: 't',
      limit: 16,
    }),
  );
  expect(plan.join('\n')).toContain(
    'USING COVERING INDEX webhook_lane_due (webhook_id=? AND tier=? AND ready_at>? AND ready_at<?)',
  );
});

test('what the desk is told of an endpoint scans no table of deliveries', async () => {
  const queries: CompiledQuery[] = [];
  await new WebhookDesk(recording(queries)).records(['w'], 100);
  expect(queries).toHaveLength(2);
  for (const query of queries) expect([query.sql, scans(await planOf(query))]).toEqual([query.sql, []]);
});

test('listing, looking for work, redelivering and cleaning up scan no table of deliveries', async () => {
  const queries: CompiledQuery[] = [];
  const database = recording(queries);
  const [log, lag, queue] = [
    new DeliveryLog(database),
    new DeliveryLag(database),
    new DeliveryQueue(database),
  ];
  const cursor = CURSOR;
  for (const status of [undefined, 'pending', 'retrying', 'delivered', 'failed'] as const) {
    await log.list({ webhookId: 'w', limit: 50, ...(status && { status }) });
    await log.list({
      webhookId: 'w',
      limit: 50,
      since: '2026-01-15T12:00:00.000Z',
      cursor,
      ...(status && { status }),
    });
  }
  const filters = [{ events: ['loan_received', 'loan_rejected'] }, { onlyFundIds: ['f'] }];
  for (const filter of filters) await log.list({ webhookId: 'w', limit: 50, ...filter });
  for (const status of [undefined, 'delivered', 'failed'] as const)
    await log.list({ webhookId: 'w', limit: 50, cursor, ...filters[0], ...(status && { status }) });
  await lag.read();
  await queue.schedules('2026-01-15T12:00:00.000Z');
  await queue.findEvent('a', 'e');
  const before = '2000-01-01T00:00:00.000Z';
  await queue.cleanUp({ deliveredBefore: before, failedBefore: before, removedBefore: before, limit: 10 });
  expect(queries.length).toBeGreaterThan(20);
  for (const query of queries) expect([query.sql, scans(await planOf(query))]).toEqual([query.sql, []]);
});

test('what a page shows is found by the keys on it', async () => {
  const queries: CompiledQuery[] = [];
  const story = newStory();
  const webhookId = await story.subscribe();
  const events = story.events('OP-1', 2);
  await story.enqueue(webhookId, events);
  const log = new DeliveryLog(recording(queries));
  const { deliveries } = await log.list({ webhookId, limit: 50, since: at(0) });
  expect(deliveries).toHaveLength(2);
  const ids = deliveries.map(({ deliveryId }) => deliveryId);
  expect([...(await log.blocked(webhookId, ids)).keys()]).toEqual([ids[0]]);
  expect(queries).toHaveLength(4);
  for (const query of queries) {
    const plan = await planOf(query);
    const beyond = plan.filter((step) => step.includes('(webhook_id=? AND waiting_lane>?)'));
    expect([query.sql, scans(plan), readsAllOfOne(plan), beyond]).toEqual([query.sql, [], [], []]);
  }
});

test('a step of a redelivery looks at the first items of its lanes, however many there are', async () => {
  const queries: CompiledQuery[] = [];
  const story = newStory();
  const webhookId = await story.subscribe();
  await story.enqueue(webhookId, [story.event('OP-1')]);
  await story.record(await story.leaseOne(webhookId), FAILED);
  const ranges = new RangeRedeliveries(recording(queries));
  const { applicationId } = story;
  const span = { since: at(0), until: at(1), createdAt: at(1) };
  await ranges.begin({ redeliveryId: 'r', webhookId, applicationId, choice: 'failed', ...span });
  await ranges.select('r', at(1));
  expect(await ranges.step(webhookId, at(1))).toBe(true);
  expect(queries.length).toBeGreaterThan(10);
  const goesThroughAll = (step: string): boolean =>
    /^SCAN (item|i|d|e|webhook_\w+)\b|USING PRIMARY KEY \(redelivery_id=\?\)/.test(step);
  for (const query of queries)
    expect([query.sql, (await planOf(query)).filter(goesThroughAll)]).toEqual([query.sql, []]);
});

test('deliveries of some events are found by the key of each', async () => {
  const queries: CompiledQuery[] = [];
  const log = new DeliveryLog(recording(queries));
  const eventIds = Array.from({ length: 1_000 }, (_, index) => `e-${index}`);
  for (const more of [{}, { status: 'failed', events: ['loan_received'], cursor: CURSOR }] as const)
    await log.list({ webhookId: 'w', limit: 50, eventIds, ...more });
  expect(queries).toHaveLength(2);
  for (const query of queries) {
    expect(query.parameters.length).toBeLessThan(20);
    const plan = (await planOf(query)).join('\n');
    expect(plan).toContain('SCAN asked VIRTUAL TABLE');
    expect(plan).toMatch(/SEARCH d USING (COVERING )?INDEX \S+ \(event_id=\? AND webhook_id=\?\)/);
    expect(plan).not.toMatch(/SCAN (d|e|of|webhook_event)\b/);
  }
});

test('queuing and storing results take one statement a table for many rows', async () => {
  const queries: CompiledQuery[] = [];
  const database = recording(queries);
  const queue = new DeliveryQueue(database);
  const story = newStory(queue);
  const webhookId = await story.subscribe();
  const progress = { group: 'g', topic: 't', partition: 0, from: 0, to: 5 };
  await new ConsumerOffsets(store.database, { realNow: () => at(0) as never }).begin('g', 't', 0, 0);
  const planned = [1, 2, 3, 4, 5].map((n) => ({ webhookId, event: story.event(`OP-${n}`) }));
  const operations = planned.map(({ event: { code, eventId } }) => {
    return { operation: code!, sequence: 0, eventIds: [eventId] };
  });
  await queue.enqueue(planned, at(0), { ...progress, operations });
  expect(queries.map(({ sql }) => /"(\w+)"/.exec(sql)?.[1])).toEqual([
    ...['consumer_offset', 'consumer_mark'],
    ...['webhook_event', 'webhook_delivery', 'webhook_lane'],
  ]);
  const leased = await story.lease(webhookId);
  queries.length = 0;
  await queue.record(
    leased.map((delivery) => story.result(delivery, DELIVERED)),
    at(0),
    at(LEASE_MS),
  );
  expect(queries.filter(({ sql }) => sql.startsWith('insert into "webhook_attempt"'))).toHaveLength(1);
});

test('inserts of several events into one table are one statement', async () => {
  const queries: CompiledQuery[] = [];
  const readModel = await openReadModel();
  const { database } = readModel;
  const projections = new SqlProjectionStore({
    ...{ dialect: 'sqlite', builder: database.builder, close: () => Promise.resolve() },
    read: (query) => database.read(query),
    snapshot: (all) => database.snapshot(all),
    transaction: (statements) => {
      queries.push(...statements.map(({ query }) => query));
      return database.transaction(statements);
    },
  });
  const insert = (table: string, revision: number): TableWrite => ({
    ...{ op: 'insert', table },
    rows: [{ stream: 's', revision, event_id: `e${revision}` }],
  });
  const update = { op: 'update', table: 'loan', where: { stream: 's' }, set: { status: 'active' } } as const;
  const projection = { name: 'p', version: 1, tables: ['published_event'], project: () => [] };
  const writes = [0, 1, 2].flatMap((revision) => [insert('published_event', revision), update]);
  expect(await projections.apply(projection, writes, 'start', '1' as LogPosition)).toBe(true);
  expect(queries.filter(({ sql }) => sql.includes('"published_event"'))).toHaveLength(1);
  await readModel.close();
});

test.each(['pending', 'retrying', 'failed'] as const)(
  'the list of %s deliveries and the lag do not read the delivered ones',
  async (status) => {
    const queries: CompiledQuery[] = [];
    const log = new DeliveryLog(recording(queries));
    const lag = new DeliveryLag(recording(queries));
    const since = '2026-01-15T12:00:00.000Z';
    const few = [{}, { events: ['loan_received'] }, { onlyFundIds: ['f'] }];
    for (const filter of few) await log.list({ webhookId: 'w', limit: 50, status, since, ...filter });
    await lag.read();
    await new WebhookDesk(recording(queries)).records(['w'], 50, ['f']);
    queries.splice(-2, 1);
    for (const query of queries) {
      expect((await planOf(query)).join('\n')).toContain(
        'INDEX webhook_delivery_undelivered (webhook_id=? AND status=?',
      );
    }
  },
);
