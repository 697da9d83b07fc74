import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Deliveries } from '../../../application/webhooks/deliveries.ts';
import type { Webhooks } from '../../../application/webhooks/webhooks.ts';
import type { App } from '../../../application/app.ts';
import { runProgram } from '../../../infrastructure/cli/program.ts';
import { SystemClock } from '../../../infrastructure/support/time.ts';
import { openServiceDatabase } from '../../support/sql/temporary-database.ts';
import type { TemporaryDatabase } from '../../support/sql/temporary-database.ts';
import { DispatchWorld, OK, REFUSED } from '../webhooks/support/dispatch-world.ts';
import { NOTHING } from '../../support/command-line.ts';
import { UNHEEDING } from '../../support/desk-over.ts';
import { fundsOver } from '../../support/funds-over.ts';
import { within } from '../../support/within.ts';

const LONG_AGO = '2020-01-01T00:00:00Z';
const UNKNOWN = '0198c1de-7a00-7c1f-9b1e-2f6d3a4b5c6d';

describe('receivables webhook', () => {
  let database: TemporaryDatabase;
  let world: DispatchWorld;
  let steps: string[];
  let opened: number;
  let closed: number;
  beforeAll(async () => {
    database = await openServiceDatabase();
  });
  beforeEach(() => {
    world = new DispatchWorld(database.database);
    steps = [];
    opened = closed = 0;
  });
  afterEach(() => world.close());
  afterAll(() => database.close());

  const run = async (...args: string[]) => {
    let out = '';
    let err = '';
    const { subscriptions, log, queue } = world;
    const deliveries = new Deliveries({ subscriptions, log, queue, realClock: new SystemClock() } as never);
    const list = subscriptions.ofApplications.bind(subscriptions);
    const webhooks = { list, deliveries } as unknown as Webhooks;
    const code = await runProgram(['webhook', ...args], {
      ...NOTHING,
      open: async () => {
        opened += 1;
        return {
          app: {
            ...({} as App),
            desk: UNHEEDING as App['desk'],
            funds: fundsOver({}),
            clients: {
              list: async () => [{ applicationId: world.applicationId, name: 'Acme' } as never],
              applications: async () => [world.applicationId],
            } as Partial<App['clients']> as App['clients'],
            webhooks,
          },
          close: async () => void (closed += 1),
        };
      },
      write: (text) => (out += text),
      writeError: (text) => (err += text),
      startProgress: (total) => {
        steps.push(`of ${total}`);
        return { advance: () => steps.push('step'), [Symbol.dispose]: () => steps.push('end') };
      },
    });
    const lines = () =>
      out
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as Record<string, unknown>);
    return { code, out, err, lines };
  };

  /** Three operations whose events were all refused until none of the attempts was left, and one that arrived. */
  const failedDeliveries = async () => {
    const webhookId = await world.subscribe('https://a.example/hooks');
    const { dispatcher, sender } = world.worker();
    sender.respond = ({ eventId }) => (eventId.startsWith('OP-4') ? OK : REFUSED);
    dispatcher.start();
    const codes = ['OP-1', 'OP-2', 'OP-3', 'OP-4'].map((name) => `${name}-${webhookId}`);
    await world.enqueue(
      webhookId,
      codes.map((code) => world.event(code)),
    );
    const failed = async () => (await world.records(webhookId, 'failed')).length;
    await within('three deliveries fail', 60_000, async () => (await failed()) >= 3);
    await world.untilDelivered(webhookId, 1);
    return { webhookId, sender, ids: codes.slice(0, 3).map((code) => `${code}#0`) };
  };

  test('list prints the webhooks of an application, one a line, and no secret', async () => {
    const [first, second] = [
      await world.subscribe('https://a.example/1'),
      await world.subscribe('https://a.example/2'),
    ];
    const { code, out, err, lines } = await run('list', '--application', world.applicationId);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(lines().map((line) => line['webhook_id'])).toEqual([first, second].sort());
    expect(out).not.toContain('secret');
    expect([opened, closed]).toEqual([1, 1]);
  });

  test('list of an application without webhooks prints nothing; of one that does not exist it ends with 3', async () => {
    expect(await run('list', '--application', 'Acme')).toMatchObject({ code: 0, out: '', err: '' });
    expect(await run('list', '--application', 'nobody')).toMatchObject({ code: 3, out: '' });
  });

  test('deliveries prints the newest first, filtered, with every attempt', async () => {
    const { webhookId, ids } = await failedDeliveries();
    const failed = (await run('deliveries', webhookId, '--status', 'failed', '--since', LONG_AGO)).lines();
    expect(failed.map((line) => line['event_id'])).toEqual(ids.toReversed());
    expect(failed[0]).toMatchObject({ status: 'failed', attempts: 4, last_response_status: 500 });
    expect(failed[0]!['attempt_log']).toHaveLength(4);
    expect((await run('deliveries', webhookId)).lines()).toHaveLength(4);
    const one = await run('deliveries', webhookId, '--event-id', ids[1]!, '--name', 'loan_received');
    expect(one.lines().map((line) => line['event_id'])).toEqual([ids[1]]);
    const other = ['--name', 'loan_approved', '--name', 'webhook.ping'];
    expect(await run('deliveries', webhookId, ...other)).toMatchObject({ code: 0, out: '', err: '' });
    const cut = await run('deliveries', webhookId, '--limit', '2');
    expect(cut.lines()).toHaveLength(2);
    expect(cut.err).toContain('only the first 2 are listed and there are more: --limit N');
    expect(await run('deliveries', webhookId, '--limit', '4')).toMatchObject({ err: '' });
  });

  test('deliveries prints the first 100 and says so, and writes all of them as CSV', async () => {
    const webhookId = await world.subscribe('https://a.example/hooks');
    await world.enqueue(
      webhookId,
      Array.from({ length: 101 }, () => world.event('OP-MANY')),
    );
    const shown = await run('deliveries', webhookId);
    expect(shown.lines()).toHaveLength(100);
    expect(shown.err).toContain(
      'only the first 100 are listed and there are more: --limit N lists more, --output',
    );
    const { out, err } = await run('deliveries', webhookId, '-o', 'csv');
    expect([out.trimEnd().split('\n').length, err]).toEqual([102, '']);
  });

  test('a file that cannot be written is named as it was asked for', async () => {
    const webhookId = await world.subscribe('https://a.example/hooks');
    expect(await run('deliveries', webhookId, '--output', '/nonexist/x.csv')).toMatchObject({
      code: 2,
      err: 'error: --output /nonexist/x.csv cannot be written: there is no such folder\n',
    });
  });

  test('deliveries tells what those wait for that do not wait for their own time', async () => {
    const webhookId = await world.subscribe('https://a.example/hooks');
    const [first, second] = [world.event('OP-W'), world.event('OP-W')];
    await world.enqueue(webhookId, [first, second]);
    const waits = async () =>
      (await run('deliveries', webhookId)).lines().map((line) => [line['event_id'], line['waits_for']]);
    expect(await waits()).toEqual([
      [
        second.eventId,
        expect.stringMatching(
          `^behind event ${first.eventId} \\(${first.name}\\), which is tried again at \\d{4}-`,
        ),
      ],
      [first.eventId, null],
    ]);
    const { applicationId, subscriptions } = world;
    await subscriptions.update(applicationId, webhookId, { status: 'paused' }, new Date().toISOString());
    expect((await waits()).map(([, why]) => why)).toEqual(
      Array.from({ length: 2 }, () => 'until the webhook is resumed'),
    );
  });

  test('redeliver repeats what failed, and a running worker sends it by itself', async () => {
    const { webhookId, sender, ids } = await failedDeliveries();
    sender.respond = () => OK;
    const before = sender.sent.length;
    const { code, lines } = await run('redeliver', webhookId, '--since', LONG_AGO);
    expect(code).toBe(0);
    expect(lines().map((line) => line['event_id'] ?? line)).toEqual([
      ...ids,
      { queued: 3, gone: 0, dry_run: false },
    ]);
    expect(lines()[0]).toMatchObject({ attempt: 5 });
    expect(steps).toEqual(['of 3', 'step', 'step', 'step', 'end']);
    // The command does not wake the worker: it looks for the work of other processes by itself.
    await world.untilDelivered(webhookId, 4);
    expect(
      sender.sent
        .slice(before)
        .map(({ eventId }) => eventId)
        .sort(),
    ).toEqual(ids);
  });

  test('redeliver --dry-run prints the same with how many it would queue, and sends nothing', async () => {
    const { webhookId, ids } = await failedDeliveries();
    const { lines } = await run('redeliver', webhookId, '--since', LONG_AGO, '--dry-run');
    expect(lines().map((line) => line['event_id'] ?? line)).toEqual([
      ...ids,
      { would_queue: 3, dry_run: true },
    ]);
    expect((await world.records(webhookId, 'failed')).map(({ attempts }) => attempts)).toEqual([4, 4, 4]);
  });

  test('redeliver keeps to its time span', async () => {
    const { webhookId } = await failedDeliveries();
    const nothing = [{ queued: 0, gone: 0, dry_run: false }];
    const span = ['--since', LONG_AGO, '--until', '2020-01-02T00:00:00Z'];
    expect((await run('redeliver', webhookId, ...span)).lines()).toEqual(nothing);
    expect((await run('redeliver', webhookId, '--since', '2099-01-01T00:00:00Z')).lines()).toEqual(nothing);
  });

  test('a webhook that is unknown or paused ends with 3', async () => {
    const webhookId = await world.subscribe('https://a.example/hooks');
    await world.subscriptions.update(world.applicationId, webhookId, { status: 'paused' }, LONG_AGO);
    const paused = await run('redeliver', webhookId, '--since', LONG_AGO);
    expect(paused).toMatchObject({ code: 3, out: '', err: expect.stringContaining('is paused') });
    const unknown = await run('deliveries', UNKNOWN);
    expect(unknown).toMatchObject({ code: 3, out: '', err: `error: there is no webhook ${UNKNOWN}\n` });
    expect([opened, closed]).toEqual([2, 2]);
  });

  test.each([
    [['unknown']],
    [['deliveries']],
    [['deliveries', UNKNOWN, '--status', 'lost']],
    [['deliveries', UNKNOWN, '--limit', '0']],
    [['deliveries', UNKNOWN, '--name', 'loan_paid']],
    [['deliveries', UNKNOWN, '--since', 'yesterday']],
    [['redeliver', UNKNOWN]],
    [['redeliver', UNKNOWN, '--since', 'yesterday']],
    [['redeliver', UNKNOWN, '--since', LONG_AGO, '--until', 'today']],
    [['redeliver', UNKNOWN, '--since', LONG_AGO, '--until', LONG_AGO]],
  ])('wrong use %j: exit code 2 and a reason on standard error', async (args) => {
    const { code, out, err } = await run(...args);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).not.toBe('');
  });
});
