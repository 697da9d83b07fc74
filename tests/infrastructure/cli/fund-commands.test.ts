import { beforeEach, expect, test } from '@jest/globals';
import { Clients } from '../../../application/clients/clients.ts';
import type { PendingOperation } from '../../../application/administrator/worklists.ts';
import { FUND_NAMES_STREAM } from '../../../application/command-handling/operation.ts';
import { ALONE, BESIDE_EARLIER } from '../../support/application-parts.ts';
import { commandLine } from '../../support/command-line.ts';
import { fundsOver } from '../../support/funds-over.ts';
import { InMemoryClientRegistry } from '../../support/in-memory-client-registry.ts';
import { InMemoryEventStore } from '../../support/in-memory-event-store.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const A = '0b0e4a3c-6f57-4d0e-8a3b-1d2c3b4a5f60';
const B = '1b0e4a3c-6f57-4d0e-8a3b-1d2c3b4a5f61';
const UNKNOWN = '2b0e4a3c-6f57-4d0e-8a3b-1d2c3b4a5f62';
const SINCE = '2026-01-15T12:00:00.000Z';
let events: InMemoryEventStore;
let receivables: ReturnType<typeof commandLine>;
let asked: object | undefined;
let formats: typeof ALONE;

beforeEach(async () => {
  events = new InMemoryEventStore();
  formats = ALONE;
  const clients = new Clients({
    registry: new InMemoryClientRegistry(),
    issue: async () => ({ clientId: `client_${Math.random()}`, clientSecret: 's', secretHash: 'hash' }),
    clock: new ManualClock(SINCE),
    formats: ALONE,
    signingKeys: {} as never,
  });
  await clients.create({ name: 'acme', fundIds: [A, B] });
  const pending: readonly PendingOperation[] = [A, B].map((fundId, i) => ({
    ...{ applicationId: 'app-1', code: `OP-${i}`, fundId, status: 'received' },
    ...{ acquisitionValue: 180_000, since: SINCE },
  }));
  receivables = commandLine(() => ({
    clients,
    funds: fundsOver({
      events,
      formats,
      clients: () => clients,
      loans: () => ({ knowsFund: async (id) => (await clients.funds()).includes(id) }),
    }),
    loans: { catchUp: async () => undefined, now: () => SINCE },
    administrator: {
      worklists: {
        pending: async (query: object) => {
          asked = query;
          return pending;
        },
      },
    } as never,
  }));
});

const name = (fund: string, text: string) => receivables('fund', 'name', '--fund', fund, text);
const eventCount = async () => (await events.read(FUND_NAMES_STREAM)).events.length;

test('a fund is named, renamed by its name, and listed', async () => {
  expect((await receivables('fund', 'list')).lines).toEqual([
    { fund_id: A, name: null },
    { fund_id: B, name: null },
  ]);
  expect(await name(A.toUpperCase(), ' Aurora ')).toMatchObject({
    code: 0,
    out: `{"fund_id":"${A}","name":"Aurora"}\n`,
  });
  expect((await name('Aurora', 'Austral, S.A.')).lines).toEqual([{ fund_id: A, name: 'Austral, S.A.' }]);
  expect((await receivables('fund', 'list', '-o', 'csv')).out).toBe(
    `fund_id,name\n${A},"Austral, S.A."\n${B},\n`,
  );
  expect((await receivables('fund', 'list', '-o', 'table')).out).toMatch(/^fund id +name\n/);
});

test('the same name again is a replay', async () => {
  const first = await name(A, 'Aurora');
  expect(await name(A, 'Aurora')).toEqual(first);
  expect(await eventCount()).toBe(1);
});

test.each([
  [B, 'AURORA', 3, `error: the fund ${A} has the name Aurora\n`],
  [UNKNOWN, 'Boreal', 3, `no application is linked to the fund ${UNKNOWN}`],
  ['aurora', 'Boreal', 3, 'no fund has the id or the name aurora'],
  [B, 'a\u202eb', 2, 'without control characters or marks of direction'],
  [B, 'x'.repeat(81), 2, 'must be 1 to 80 characters'],
  [B, UNKNOWN, 2, 'must not look like the id of a fund'],
])('%s as %j ends with %i', async (fund, text, code, message) => {
  await name(A, 'Aurora');
  const result = await name(fund, text);
  expect([result.code, result.out, result.err]).toEqual([code, '', expect.stringContaining(message)]);
  expect(await eventCount()).toBe(1);
});

test('nothing is named beside a release that knows no names', async () => {
  formats = BESIDE_EARLIER;
  expect(await name(A, 'Aurora')).toMatchObject({
    code: 3,
    err: expect.stringContaining('run `receivables upgrade finish` first'),
  });
  expect(await eventCount()).toBe(0);
});

test('a list is as before until a fund has a name, which then stands in a last column', async () => {
  const list = async (...more: readonly string[]) =>
    (await receivables('administrator', 'pending', '-o', 'csv', ...more)).out.split('\n');
  const before = await list();
  await name(A, 'Aurora');
  expect(await list()).toEqual(before.map((line, i) => line && `${line},${['fund_name', 'Aurora', ''][i]!}`));
  await list('--fund', 'Aurora');
  expect(asked).toEqual({ fundId: A });
  expect((await receivables('administrator', 'pending', '--fund', 'Boreal')).code).toBe(3);
});

test('another application is linked to a fund by its name', async () => {
  await name(A, 'Aurora');
  const create = (fund: string) => receivables('client', 'create', '--name', 'other', '--fund', fund);
  expect((await create('Aurora')).lines).toMatchObject([{ fund_ids: [A] }]);
  for (const fund of ['Boreal', ''])
    expect(await create(fund)).toMatchObject({
      code: 2,
      err: expect.stringContaining(`no fund has the name "${fund}": give`),
    });
});

test('clients have the names of their funds beside the ids, in the same order, once any fund has one', async () => {
  const list = async () => (await receivables('client', 'list', '-o', 'csv')).out.split('\n');
  expect((await list())[0]).not.toContain('fund_names');
  await name(B, 'Boreal');
  const [header, line] = await list();
  expect(header).toMatch(/,name,fund_ids,fund_names,only_fund_ids,/);
  expect(line).toContain(`"${A}, ${B}","${A}, Boreal",`);
  expect((await receivables('client', 'list', '-o', 'json')).lines[0].fund_names).toEqual([A, 'Boreal']);
});
