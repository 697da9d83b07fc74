import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { CompiledQuery } from 'kysely';
import { Client, escapeLiteral } from 'pg';
import type { LeasedDelivery } from '../../../application/webhooks/queue/lease-lanes.ts';
import { calendarDate } from '../../../domain/shared/calendar-date.ts';
import { Worklists } from '../../../application/administrator/worklists.ts';
import { dueBefore } from '../../../application/loans/overdue.ts';
import { SqlLoanReader } from '../../../application/loans/loan-reader.ts';
import { SqlOperationSearch } from '../../../application/loans/operation-search.ts';
import { LOOK_UPS } from '../../../infrastructure/postgres/postgres-database.ts';
import { TableWriteStatements } from '../../../application/projecting/table-writes.ts';
import type { Query, SqlDatabase } from '../../../application/sql/sql-database.ts';
import { DeliveryLag } from '../../../application/webhooks/queue/floors.ts';
import { DeliveryLog } from '../../../application/webhooks/delivery-log.ts';
import { DeliveryQueue } from '../../../application/webhooks/queue/delivery-queue.ts';
import { laneStatements } from '../../../application/webhooks/queue/lanes.ts';
import type { LaneStatements } from '../../../application/webhooks/queue/lanes.ts';
import { ResultStatements } from '../../../application/webhooks/queue/result-statements.ts';
import { WebhookSubscriptions } from '../../../application/webhooks/subscriptions.ts';
import { DELIVERED, FAILED, LEASE_MS, Story, at, retry } from '../../contracts/delivery-queue-samples.ts';
import type { QueueUnderTest } from '../../contracts/delivery-queue-samples.ts';
import type { TableWrite } from '../../../projections/projection.ts';
import { bothSets, openPostgres, raw, testPostgres } from '../../support/postgres/test-postgres.ts';
import type { PostgresFixture, TestPostgres } from '../../support/postgres/test-postgres.ts';

const DELIVERIES = 100_000;
const LANES = 4_000;
const INSTALLMENTS = 100_000;

/** 20 subscriptions; nineteen in twenty deliveries are delivered, the others wait in lanes. */
const FILLED = [
  `insert into webhook_subscription select 'w-' || n, 'app', 'https://receiver.example', '["*"]', null, null, 'active',
     'sealed', '', '', null, null, null from generate_series(0, 19) n`,
  `insert into wrapped_key select 'data-key:loan-app.OP-' || n, 'sealed', '${at(0)}' from generate_series(0, ${LANES}) n`,
  `insert into webhook_event select 'e-' || n, 'app', 'installment_settled', 'fund', 'OP-' || n, n, '${at(0)}', '{}'
     from generate_series(0, ${DELIVERIES / 20}) n`,
  `insert into webhook_delivery select 'w-' || n % 20, lpad(n::text, 12, '0'), 'e-' || n / 20,
     case when n / 20 % 20 = 0 then 'OP-' || n / 20 % ${LANES} end, n, case when n / 20 % 20 = 0 then 'pending' else 'delivered' end,
     0, 0, '${at(0)}', '${at(0)}', null, null, case when n / 20 % 20 > 0 then '${at(1)}' end, null, null
     from generate_series(0, ${DELIVERIES - 1}) n`,
  `insert into webhook_attempt select delivery_id, 1, '', 1, 200, null, null from webhook_delivery`,
  `insert into webhook_lane select 'OP-' || n, 'w-' || n % 20, 0, '${at(0)}', '', null, null
     from generate_series(0, ${LANES - 1}) n`,
  `insert into webhook_redelivery select 'r-' || n, 'w-' || n % 20, 'app', 'completed', 'failed', '', '', 1, 0, 1, 0, 0, 3, null, null,
     '${at(0)}', '${at(1)}' from generate_series(0, 20000) n`,
  `insert into loan select n, 'loan-app.' || n, 'app', 'OP-' || n, 'fund-' || n % 7, 'active', 'p', 1, 1, '', '', '', '${at(0)}', null,
     null, null, null, null, '' from generate_series(0, ${INSTALLMENTS / 10}) n`,
  `insert into progress select id, application_id, code, received_at, '', 1, 0 from loan`,
  `insert into installment select n / 10, lpad((n % 10)::text, 3, '0'), n % 10, '2026-0' || 1 + n % 9 || '-01', 1,
     case when n % 3 = 0 then 'settled' when n % 5000 = 1 then 'overdue' else 'pending' end, null, null, null, null from generate_series(0, ${INSTALLMENTS - 1}) n`,
  `insert into installment_credit select operation, code, 0, '1', '', '' from installment`,
  `insert into payment select fund_id, '2026-0' || 1 + n % 9 || '-01', id * 10 + n, n, id, 'e-' || id || '-' || n, 'settlement', null, '001',
     1, 1, 0, 0, 0, 0, 1, '' from loan, generate_series(1, 9) n`,
  `insert into prepayment select id, 0, 1, '', '[]', 0 from loan`,
  `insert into document select id, 'd-' || n, 0, 0, 'x', '', '', 1, '' from loan, generate_series(1, 3) n`,
  `insert into status_history select id, n, 'active', '' from loan, generate_series(1, 3) n`,
  `update loan set waiting_since = received_at, status = 'received' where stream like '%7'`,
  `update loan set active_at = received_at where status = 'active'`,
  'analyze',
];
/** Few rows, or read whole on purpose. */
const SMALL = new Set(['webhook_subscription']);

let postgres: TestPostgres;
let fixture: PostgresFixture;
let asked: CompiledQuery[] = [];
let recording: SqlDatabase;
let client: Client;

beforeAll(async () => {
  postgres = await testPostgres();
  fixture = await openPostgres(postgres, bothSets);
  const { database } = fixture;
  for (const statement of FILLED) await database.transaction([raw(statement)]);
  recording = {
    dialect: database.dialect,
    builder: database.builder,
    read: (one) => {
      asked.push(one.compile());
      return database.read(one);
    },
    snapshot: (all) => {
      asked.push(...(all as readonly Query<unknown>[]).map((one) => one.compile()));
      return database.snapshot(all);
    },
    transaction: (statements, options) => {
      asked.push(...statements.map(({ query }) => query));
      return database.transaction(statements, options);
    },
    close: () => Promise.resolve(),
  };
  client = new Client({ connectionString: fixture.url });
  await client.connect();
  // What a prepared statement gets at first, and keeps unless one plan for all values promises to be as cheap.
  await client.query('set plan_cache_mode = force_custom_plan');
});
afterAll(async () => {
  await client.end();
  await fixture.close();
  await postgres.close();
});

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Cond'?: string;
  readonly Filter?: string;
  readonly Plans?: readonly PlanNode[];
}

const literal = (value: unknown): string =>
  value === null ? 'null' : typeof value === 'string' ? escapeLiteral(value) : JSON.stringify(value);

const planOf = async ({ sql, parameters }: CompiledQuery, on = client): Promise<PlanNode> => {
  await on.query('deallocate all');
  await on.query(`prepare planned as ${sql}`);
  const values = parameters.length === 0 ? '' : `(${parameters.map(literal).join()})`;
  const { rows } = await on.query<{ 'QUERY PLAN': readonly [{ Plan: PlanNode }] }>(
    `explain (format json) execute planned${values}`,
  );
  return rows[0]!['QUERY PLAN'][0].Plan;
};

const nodesOf = (plan: PlanNode): readonly PlanNode[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];

/** Tables that the plan reads from one end to the other, and the sorts that it needs. */
const flawsOf = async (one: CompiledQuery): Promise<readonly string[]> =>
  nodesOf(await planOf(one)).flatMap((node) => {
    const table = node['Relation Name'] ?? '';
    return node['Node Type'] === 'Seq Scan' && !SMALL.has(table) ? [`reads all of ${table}`] : [];
  });

const flawsOfAll = async (): Promise<readonly (readonly [sql: string, flaws: readonly string[]])[]> => {
  const distinct = [...new Map(asked.map((one) => [one.sql, one])).values()];
  asked = [];
  const flaws: [string, readonly string[]][] = [];
  for (const one of distinct) {
    if (/^select pg_advisory/.test(one.sql)) continue;
    flaws.push([one.sql, await flawsOf(one)]);
  }
  return flaws.filter(([, found]) => found.length > 0);
};

describe('PostgreSQL finds by index', () => {
  test('the life of a delivery', async () => {
    const adapter = {
      queue: new DeliveryQueue(recording),
      log: new DeliveryLog(recording),
      lag: new DeliveryLag(recording),
      subscriptions: new WebhookSubscriptions(recording),
    };
    const story = new Story(adapter);
    const webhookId = await story.subscribe();
    const events = story.events('OP-1', 4);
    await story.enqueue(webhookId, events);
    const next = await story.deliver(await story.leaseOne(webhookId));
    await story.record(next!, retry(1_000), 0, true);
    const again = await story.leaseOne(webhookId, 2_000);
    await story.record(again, DELIVERED, 14_000, true);
    const third = await story.leaseOne(webhookId, 40_000);
    await adapter.queue.release([third.lease], at(40_000));
    const found = await adapter.queue.findEvent(story.applicationId, events[0]!.eventId);
    await adapter.queue.redeliver(found!.event, found!.webhookIds, at(41_000));
    for (const delivery of await story.lease(webhookId, 41_000))
      await story.record(delivery, DELIVERED, 41_000);
    expect(asked.length).toBeGreaterThan(40);
    expect(await flawsOfAll()).toEqual([]);
  });

  test('lists of deliveries, the lag, the schedules and what is to be removed', async () => {
    const [log, lag, queue] = [
      new DeliveryLog(recording),
      new DeliveryLag(recording),
      new DeliveryQueue(recording),
    ];
    const cursor = '01890000-0000-7000-8000-000000000000';
    for (const status of [undefined, 'pending', 'retrying', 'delivered', 'failed'] as const) {
      const page = { webhookId: 'w-1', limit: 50, ...(status && { status }) };
      await log.list(page);
      await log.list({ ...page, since: at(0), cursor });
      await log.list({ ...page, events: ['loan_rejected'] });
      await log.list({ ...page, events: ['loan_received', 'installment_settled'], cursor });
      await log.list({ ...page, eventIds: ['e-1'] });
      const eventIds = Array.from({ length: 1_000 }, (_, n) => `e-${n}`);
      await log.list({ ...page, eventIds, events: ['loan_rejected'], onlyFundIds: ['fund'] });
    }
    await lag.read();
    await queue.schedules(at(0));
    const removed = { deliveredBefore: at(10), failedBefore: at(10), removedBefore: at(10), limit: 100 };
    await queue.cleanUp(removed);
    await queue.cleanUp({ ...removed, deliveredBefore: at(0) });
    expect(await flawsOfAll()).toEqual([]);
  });

  test('operations, their parts and pages of them, and installments that fall due', async () => {
    const reader = new SqlLoanReader(recording);
    await reader.find('app', 'OP-7');
    const page = { applicationId: 'app', limit: 50 };
    const { nextCursor } = await reader.list(page);
    await reader.list({ ...page, updatedSince: at(0), cursor: nextCursor! });
    for (const more of [
      {},
      { updatedSince: at(0) },
      { status: ['active'] },
      { status: ['active', 'settled'] },
    ]) {
      await reader.list({ ...page, ...more, overdue: true });
      await reader.list({ ...page, ...more, overdue: true, cursor: nextCursor! });
    }
    const filters = [
      { status: ['active', 'settled'] },
      {},
      { fundId: 'fund-1' },
      { status: ['active'] },
      { fundId: 'fund-1', status: ['active'] },
    ];
    for (const filter of filters) {
      await reader.list({ ...page, ...filter });
      await reader.list({ ...page, ...filter, cursor: nextCursor! });
    }
    const search = new SqlOperationSearch(recording);
    for (const query of [
      {},
      { code: 'op-7' },
      { code: 'nowhere', from: at(0) },
      { fundId: 'fund-1', status: ['settled'] },
      { sorting: { by: 'code', descending: true } },
      { overdue: true },
    ] as const) {
      const { next } = await search.find({ ...query, limit: 5 });
      if (next) await search.find({ ...query, limit: 5, after: next });
    }
    const desk = new Worklists(recording);
    await desk.waiting();
    const waits = [
      {},
      { status: 'received' },
      { fundId: 'fund-1' },
      { fundId: 'fund-1', status: 'received' },
    ] as const;
    for (const wait of waits) {
      const place = (await desk.worklist({ limit: 50, ...wait }))[49]!;
      await desk.worklist({ limit: 50, ...wait, after: place });
    }
    const today = calendarDate('2026-06-20');
    const found = await dueBefore(recording, today, 500);
    await dueBefore(recording, today, 500, found.at(-1));
    await desk.notified(today, today);
    expect(await flawsOfAll()).toEqual([]);
  });
});

/** The statements that store so many results of each kind. */
const stored = (results: ResultStatements, count: number): readonly CompiledQuery[] => {
  const story = new Story({} as QueueUnderTest);
  const endpoint = {
    webhookId: 'w',
    applicationId: 'app',
    url: 'https://receiver.example',
    sealedSecret: '',
  };
  const attempted = Array.from({ length: count }, (_, index) => index).flatMap((n) => {
    const of = (lane: string, redelivery: boolean): LeasedDelivery => ({
      lease: { webhookId: 'w', lane, token: 't', until: at(1) },
      ...{ endpoint, deliveryId: lane, event: story.event(lane), attempt: 1, scheduledAttempts: 0 },
      ...{ redelivery, createdAt: at(0) },
    });
    return [
      story.result(of(`a-${n}`, false), DELIVERED, 0, true),
      story.result(of(`b-${n}`, false), DELIVERED, 0, false),
      story.result(of(`c-${n}`, false), retry(1_000)),
      story.result(of(`d-${n}`, false), FAILED, 0, true),
      story.result(of(`/redelivery/e-${n}`, true), DELIVERED),
      story.result(of(`/redelivery/f-${n}`, true), FAILED),
    ];
  });
  return results.of(attempted, at(0), at(LEASE_MS)).statements.map(({ query }) => query);
};

/** The statements that give so many lanes of redeliveries back. */
const givenBack = (lanes: LaneStatements, count: number): readonly CompiledQuery[] => {
  const leases = Array.from({ length: count }, (_, n) => ({
    ...{ webhookId: 'w', lane: `/redelivery/d-${n}`, token: 't', until: at(1) },
  }));
  return lanes.handBack(leases, at(0)).map(({ query }) => query);
};

const another = (value: string | number, n: number): string | number =>
  typeof value === 'number' ? value + n : `${value}-${n}`;

/** The updates of the read models, so many of each kind that travel together. */
const projected = ({ database }: PostgresFixture, count: number): readonly CompiledQuery[] => {
  const statements = new TableWriteStatements(database);
  const updates: readonly Omit<Extract<TableWrite, { op: 'update' }>, 'op'>[] = [
    {
      table: 'progress',
      where: { operation: 7 },
      set: { updated_at: at(0), version: 1 },
      add: { received_value: 1 },
    },
    {
      table: 'installment',
      where: { operation: 7, code: '001' },
      set: { status: 'settled', settled_value: 1 },
    },
    { table: 'installment', where: { operation: 7, status: 'pending' }, set: { status: 'frozen' } },
    { table: 'document', where: { operation: 7 }, set: { value: 'v' } },
    { table: 'loan', where: { stream: 's' }, set: { active_date: '2026-06-20' } },
  ];
  return updates.flatMap((update) => {
    const last = Object.keys(update.where).at(-1)!;
    const alike = Array.from({ length: count }, (_, n): TableWrite => ({
      ...{ op: 'update', ...update, where: { ...update.where, [last]: another(update.where[last]!, n) } },
    }));
    return statements.of(alike).map(({ query }) => query);
  });
};

test.each(['new', 'analysed'])(
  'plans made while %s tables are empty look rows of the queue and of the read models up all the same',
  async (state) => {
    const empty = await openPostgres(postgres, bothSets);
    const onEmpty = new Client({ connectionString: empty.url });
    await onEmpty.connect();
    try {
      if (state === 'analysed') await onEmpty.query('analyze');
      await onEmpty.query('begin');
      await onEmpty.query(LOOK_UPS.text);
      const lanes = laneStatements(empty.database);
      const results = new ResultStatements(empty.database, lanes);
      const place = { webhook_id: 'w', tier: 0, now: at(0), lease_until: at(1), token: 't' };
      const asked = [
        lanes.leasedHeads(place),
        ...[1, 2, 64].flatMap((count) => [
          ...[...stored(results, count), ...givenBack(lanes, count), ...projected(empty, count)],
        ]),
      ];
      for (const one of asked) {
        const flaws = nodesOf(await planOf(one, onEmpty)).filter((node) => {
          const kind = node['Node Type'];
          if (!kind.startsWith('Index')) return /Seq Scan|Hash Join|Merge Join/.test(kind);
          if (node['Index Cond'] === undefined) return true;
          // Of several indexes for one row each, the statistics of an analysed table that is empty make none cheaper.
          return state === 'new' && /(?:lane|_id|stream|operation|code) = /.test(node.Filter ?? '');
        });
        expect([one.sql, flaws]).toEqual([one.sql, []]);
      }
    } finally {
      await onEmpty.end();
      await empty.close();
    }
  },
);
