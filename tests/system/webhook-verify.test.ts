import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import { loanRequest } from '../support/api-client.ts';
import type { ApiClient } from '../support/api-client.ts';
import { commandLine } from '../support/command-line.ts';
import { Random } from '../support/random.ts';
import { RunningService } from '../support/running-service.ts';
import { trustedReceiver } from '../support/trusted-receiver.ts';
import type { TrustedReceiver } from '../support/trusted-receiver.ts';
import type { WebhookReceiver } from '../support/webhook-receiver.ts';
import { within } from '../support/within.ts';

const FILTERS = [
  ['*'],
  ['loan_received', 'installment_settled'],
  ['loan_approved', 'disbursement_completed', 'loan_fully_settled'],
];
const SEED = 20_261_103;
const LIVES = 10;

let trusted: TrustedReceiver;
let receiver: WebhookReceiver;
let service: RunningService;
let api: ApiClient;
let run: ReturnType<typeof commandLine>;
let everything: string;
let repaired: string;

beforeAll(async () => {
  trusted = await trustedReceiver();
  ({ receiver } = trusted);
  service = await RunningService.start(trusted.settings);
  api = await service.client();
  const services = service.service.parts;
  run = commandLine(() => services);
  everything = await subscribe(['*']);
  await randomLives(new Random(SEED));
});
afterAll(async () => {
  await service?.stop();
  await trusted?.close();
});

const subscribe = async (events: readonly string[]): Promise<string> =>
  (await api.call('POST', '/webhook', { url: receiver.url, events })).body.webhook_id;

/** Operations begin, live and end while subscriptions come, change their minds, pause and go, and the clock moves. */
const randomLives = async (random: Random): Promise<void> => {
  const hooks = [everything];
  for (let step = 0; step < LIVES; step++) {
    const code = `LIFE-${step}`;
    if (random.chance(0.3) && hooks.length < 6) hooks.push(await subscribe(random.pick(FILTERS)));
    const hook = random.pick(hooks.slice(1).concat(everything));
    if (random.chance(0.2)) await api.call('POST', `/webhook/${hook}/pause`);
    if (random.chance(0.15)) await api.call('POST', '/sandbox/clock', { advance: '40d' });
    const living = api.assign(loanRequest(api.fund, code, 2));
    if (hook !== everything && random.chance(0.5))
      await api.call('PATCH', `/webhook/${hook}`, { events: random.pick(FILTERS) });
    expect((await living).status).toBe(201);
    if (random.chance(0.7)) {
      await api.untilStatus(code, 'active');
      for (const one of ['001', '002'])
        if (random.chance(0.7)) expect((await api.settle(code, one, 950)).status).toBe(200);
    }
    if (random.chance(0.1) && hooks.length > 2)
      await api.call('DELETE', `/webhook/${hooks.splice(1, 1)[0]!}`);
  }
  for (const hook of hooks) await api.call('POST', `/webhook/${hook}/resume`);
};

const deliveredEvents = async (): Promise<readonly Record<string, string>[]> => {
  const { body } = await api.call('GET', `/webhook/${everything}/deliveries?limit=200&status=delivered`);
  return body.data.filter(
    ({ originator_proposal_code: code }: { originator_proposal_code: string | null }) => code,
  );
};

const store = () => service.service.parts.serviceDatabase;
const change = async (...statements: readonly RawBuilder<unknown>[]): Promise<void> => {
  const { builder } = store();
  await store().transaction(statements.map((one) => ({ query: one.compile(builder), expectChanges: 1 })));
};
let undo: RawBuilder<unknown>[] = [];
afterEach(async () => {
  if (undo.length > 0) await change(...undo);
  undo = [];
});

const verified = async (...more: readonly string[]) => {
  const { code, lines, err } = await run('webhook', 'verify', ...more);
  return { code, err, differences: lines.slice(0, -1), summary: lines.at(-1) };
};

test('a healthy service has no difference, while it lives and afterwards', async () => {
  const living = randomUUID();
  const assigning = api.assign(loanRequest(api.fund, living, 2));
  expect(await verified()).toMatchObject({ code: 0, differences: [], err: '' });
  await assigning;
  await api.untilStatus(living, 'active');
  await within('all are delivered', 60_000, async () => {
    const { body } = await api.call('GET', `/webhook/${everything}/deliveries?status=pending`);
    return body.data.length === 0;
  });
  const { code, differences, summary } = await verified('--application', 'test');
  expect({ code, differences }).toEqual({ code: 0, differences: [] });
  expect(summary).toMatchObject({ differences: 0, repaired: 0, held_back: 0 });
  expect(summary.events).toBeGreaterThan(40);
  expect(summary.deliveries).toBeGreaterThan(summary.events);
});

test('a lost delivery is found, sent again with --repair, and missed no more', async () => {
  const random = new Random(SEED);
  const lost = random.pick(await deliveredEvents());
  const id = lost['event_id']!;
  repaired = lost['originator_proposal_code']!;
  // As where the event never came to the fan-out: not even its bytes are kept.
  await store().transaction(
    [
      sql`delete from webhook_attempt where delivery_id in (select delivery_id from webhook_delivery where event_id = ${id})`,
      sql`delete from webhook_delivery where event_id = ${id} and webhook_id = ${everything}`,
      sql`delete from webhook_event where event_id = ${id}
        and not exists (select 1 from webhook_delivery d where d.event_id = webhook_event.event_id)`,
    ].map((one) => ({ query: one.compile(store().builder) })),
  );
  const before = receiver.arrivals.length;
  const missing = {
    kind: 'missing',
    webhook_id: everything,
    originator_proposal_code: lost['originator_proposal_code'],
    event: lost['event'],
    event_id: id,
  };
  expect(await verified()).toMatchObject({
    code: 4,
    differences: [{ ...missing, repaired: false }],
    err: expect.stringContaining('1 difference(s) found'),
  });
  expect((await verified('--since', '2040-01-01T00:00:00Z')).code).toBe(0);
  await api.call('POST', `/webhook/${everything}/pause`);
  expect((await verified('--repair')).differences).toMatchObject([{ ...missing, repaired: false }]);
  await api.call('POST', `/webhook/${everything}/resume`);
  expect(await verified('--repair')).toMatchObject({
    code: 4,
    differences: [{ ...missing, repaired: true }],
    summary: { differences: 1, repaired: 1 },
  });
  await receiver.until(
    () => receiver.arrivals.slice(before).some(({ eventId }) => eventId === id),
    'it arrives',
  );
  expect(await verified()).toMatchObject({ code: 0, differences: [] });
});

test('an event that was delivered under a second id is found, and so is one that the log never had', async () => {
  const [copied] = await deliveredEvents();
  const [twice, unknown] = [randomUUID(), randomUUID()];
  const planted = (id: string, sequence: RawBuilder<unknown>) => [
    sql`insert into webhook_event select ${id}, application_id, name, fund_id, code, ${sequence}, occurred_at, body
      from webhook_event where event_id = ${copied!['event_id']}`,
    sql`insert into webhook_delivery (webhook_id, delivery_id, event_id, waiting_lane, sequence, status, attempts,
        scheduled_attempts, created_at, delivered_at, finished_at)
      select webhook_id, substr(delivery_id, 1, 24) || ${id.slice(24)}, ${id}, null, ${sequence}, status, attempts,
        scheduled_attempts, created_at, delivered_at, finished_at
      from webhook_delivery where event_id = ${copied!['event_id']} and webhook_id = ${everything}`,
  ];
  await change(...planted(twice, sql`sequence`), ...planted(unknown, sql`99`));
  undo = ['webhook_delivery', 'webhook_event'].flatMap((table) =>
    [twice, unknown].map((id) => sql`delete from ${sql.table(table)} where event_id = ${id}`),
  );
  const { code, differences } = await verified('--repair');
  expect(code).toBe(4);
  const byKind = Map.groupBy(differences, ({ kind }) => kind);
  expect(byKind.get('twice')).toMatchObject([{ event_id: twice, webhook_id: everything, repaired: false }]);
  expect(byKind.get('unknown')).toMatchObject([{ event_id: unknown, webhook_id: everything }]);
  expect(differences).toHaveLength(2);
});

test('events that went out in another order than they happened are found', async () => {
  const events = await deliveredEvents();
  const life = [...Map.groupBy(events, (one) => one['originator_proposal_code'])].find(
    ([code, some]) => some.length > 3 && code !== repaired,
  )![1];
  // Newest first.
  const later = life[0]!;
  const at = (instant: string) =>
    sql`update webhook_delivery set delivered_at = ${instant}
      where event_id = ${later['event_id']} and webhook_id = ${everything}`;
  await change(at('2026-01-01T00:00:00.000Z'));
  undo = [at(later['delivered_at']!)];
  expect(await verified()).toMatchObject({
    code: 4,
    differences: [{ kind: 'out_of_order', event_id: later['event_id'] }],
  });
});

test('an event that a subscription did not ask for is found', async () => {
  const narrow = await subscribe(['loan_rejected']);
  const code = randomUUID();
  await api.assign(loanRequest(api.fund, code, 2));
  await api.untilStatus(code, 'active');
  const given = sql`insert into webhook_delivery (webhook_id, delivery_id, event_id, waiting_lane, sequence, status,
      attempts, scheduled_attempts, created_at, delivered_at, finished_at)
    select ${narrow}, ${randomUUID()}, event_id, null, sequence, 'delivered', 1, 1, occurred_at, occurred_at, occurred_at
    from webhook_event where code = ${code} and name = 'loan_approved'`;
  await within('it is queued', 60_000, async () => change(given).then(() => true));
  const { code: exit, differences } = await verified();
  expect(exit).toBe(4);
  expect(differences).toMatchObject([{ kind: 'not_asked_for', webhook_id: narrow, event: 'loan_approved' }]);
  // What it asks for from now on says nothing of before.
  await api.call('PATCH', `/webhook/${narrow}`, { events: ['loan_rejected', 'loan_approved'] });
  expect((await verified()).differences).toEqual([]);
});

test('a table ends with a summary', async () => {
  const { code, out } = await run('webhook', 'verify', '-o', 'table');
  expect({ code, out }).toEqual({
    code: 0,
    out: expect.stringMatching(/^\d+ webhooks, .*: no difference\n$/),
  });
});
