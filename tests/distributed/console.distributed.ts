import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { PAGES } from '../../infrastructure/console/pages/all.ts';
import { ConsoleBeside } from '../browser/console-browser.ts';
import { assignIn } from '../lives/assign-in.ts';
import { World } from '../lives/world.ts';
import type { TestApplication } from '../lives/world.ts';
import { loanRequest, smallPdf } from '../support/api-client.ts';
import { StandInProcess } from '../support/eventstoredb/stand-in-process.ts';
import { testKafka } from '../support/kafka/test-kafka.ts';
import { testPostgres } from '../support/postgres/test-postgres.ts';
import { within } from '../support/within.ts';

const CODE = 'OP-1';
const closing: (() => Promise<void>)[] = [];
let world: World;
let application: TestApplication;
let endpoint: string;
let beside: ConsoleBeside;

const keep = <T extends { close(): Promise<void> }>(one: T): T => {
  closing.push(() => one.close());
  return one;
};

beforeAll(async () => {
  const postgres = keep(await testPostgres());
  const kafka = keep(await testKafka());
  const store = await StandInProcess.start();
  closing.push(() => store.kill());
  world = await World.start({
    DATABASE_URL: await postgres.schema(),
    EVENTSTORE_URL: store.url,
    KAFKA_BROKERS: kafka.brokers.join(','),
    KAFKA_TOPIC_PREFIX: kafka.prefix(),
  });
  closing.push(() => world.stop());
  application = await world.createApplication();
  const hook = { url: 'https://receiver.example/events', events: ['*'] };
  const { body } = await world.call(application, { method: 'POST', path: '/webhook', body: hook });
  endpoint = `/webhooks/${body.webhook_id}`;
  await assignIn(world, application, loanRequest(application.funds[0]!, CODE), smallPdf(CODE));
  beside = keep(await ConsoleBeside.open(world));
}, 300_000);
afterAll(async () => {
  for (const close of closing.reverse()) await close();
});

type Fields = readonly (readonly [name: string, value: string])[];

/** A session, as a browser keeps it: asks for a page, or posts a form of one. */
const enter = async () => {
  const address = beside.newAddress();
  const { origin } = new URL(address);
  const { headers } = await fetch(address, { redirect: 'manual' });
  const cookie = headers.getSetCookie()[0]!.split(';')[0]!;
  return async (path: string, form?: Fields): Promise<string> => {
    const answer = await fetch(origin + path, {
      headers: { cookie, origin, 'accept-language': 'en' },
      ...(form && {
        method: 'POST',
        body: new URLSearchParams(form.map(([name, value]): [string, string] => [name, value])),
      }),
    });
    const text = await answer.text();
    if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${text}`);
    return text;
  };
};

/** What the form with this action sends along when nothing is typed into it. */
const fieldsOf = (page: string, action: string): Fields => {
  const form = page.slice(page.indexOf(`action="${action}"`));
  return [...form.slice(0, form.indexOf('</form>')).matchAll(/<input[^>]*>/g)].flatMap(([input]) => {
    const [name, value] = ['name', 'value'].map((one) => new RegExp(` ${one}="([^"]*)"`).exec(input)?.[1]);
    return name === undefined ? [] : [[name, value ?? ''] as const];
  });
};

test('the console decides and shows every page over EventStoreDB, PostgreSQL and Kafka', async () => {
  const ask = await enter();
  const operation = `${application.applicationId}/${CODE}`;
  for (const decision of ['approve', 'sign_term', 'disburse']) {
    const chosen = fieldsOf(await ask('/decisions'), '/decisions/preview');
    const preview = await ask('/decisions/preview', [...chosen, ['decision', decision]]);
    const result = await ask('/decisions/decide', fieldsOf(preview, '/decisions/decide'));
    expect(result).toContain('1 done, 0 refused.');
  }
  const loan = await world.call(application, { method: 'GET', path: `/loan/${CODE}` });
  expect(loan.body.status).toBe('active');

  const fund = application.funds[0]!;
  const expected: Readonly<Record<string, RegExp>> = {
    '/': /Nothing waits/,
    '/decisions': /0 operations wait now/,
    '/operations': new RegExp(CODE),
    '/portfolio': new RegExp(fund),
    '/webhooks': /receiver\.example/,
    '/reconciliation': /<form[^>]*reconciliation/,
    '/audit': /<form[^>]*audit/,
    '/desk': /OP-|desk/i,
    '/funds': new RegExp(fund),
    '/today/money': /<section/,
    '/today/overdue': /<section/,
    '/today/awaiting': /<section/,
    '/today/service': /<section/,
    [`/operations/${operation}`]: /Disburse/,
    [`/decisions/${operation}`]: new RegExp(CODE),
    [`/portfolio/position?fund=${fund}`]: /\*{9}\d\d[\s\S]*Composition by state[\s\S]*Active[\s\S]*financing/,
    [`/portfolio/composition?fund=${fund}`]: new RegExp(`borrower,1,\\*{9}\\d\\d,1,.*,1\\.000000,.*,${CODE}`),
    [endpoint]: /loan_received/,
  };
  // Deliveries are queued by who follows the topics, in its own time.
  await within('a delivery is queued', 60_000, async () => /loan_received/.test(await ask(endpoint)));
  for (const { path, hidden } of PAGES) if (hidden !== true) expect(Object.keys(expected)).toContain(path);
  const found = Object.entries(expected).map(async ([path, text]) => [path, text.test(await ask(path))]);
  expect(Object.fromEntries(await Promise.all(found))).toEqual(
    Object.fromEntries(Object.keys(expected).map((path) => [path, true])),
  );
}, 120_000);
