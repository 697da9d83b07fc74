import { randomUUID } from 'node:crypto';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { ApiClient, loanRequest } from '../support/api-client.ts';
import { auditOf, tamper } from '../support/audited-world.ts';
import { receivablesOn } from '../support/command-line-beside.ts';
import { RunningService } from '../support/running-service.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

/** Each command opens stores of its own, on a machine that may be busy. */
jest.setTimeout(300_000);

const directory = temporaryDirectory();
let [dataDir, restored, anchor] = ['', '', ''];
const [fund, other] = [randomUUID(), randomUUID()];
let service: RunningService;
/** On the directory that the service runs on. */
let receivables: ReturnType<typeof receivablesOn>;
let api: ApiClient;
let client: Awaited<ReturnType<RunningService['createClient']>>;

beforeAll(async () => {
  [dataDir, restored, anchor] = ['data', 'restored', 'anchor.jsonl'].map((name) => join(directory, name)) as [
    string,
    string,
    string,
  ];
  receivables = receivablesOn(dataDir);
  service = await RunningService.start({ DATA_DIR: dataDir, SANDBOX_STEP: '1ms' });
  client = await service.createClient(fund);
  await receivables('client', 'update', client.client_id, '--add-fund', other);
  api = new ApiClient(service.baseUrl, client);
});
afterAll(() => service.stop());

const listed = async (): Promise<string> => receivables('fund', 'list', '-o', 'csv');
const name = (id: string, text: string) => receivables('fund', 'name', '--fund', id, text);

test('two commands that give two funds one name at once: one of them is told that it is taken', async () => {
  const outcomes = await Promise.allSettled([name(fund, 'Aurora'), name(other, 'AURORA')]);
  const refused = outcomes.filter((one) => one.status === 'rejected');
  expect(refused.map(({ reason }) => (reason as { code: number }).code)).toEqual([3]);
});

test('read models that hold nothing yet are whole at the next start', async () => {
  await service.stop();
  service = await RunningService.start({ DATA_DIR: dataDir, SANDBOX_STEP: '1ms' });
  expect(service.logger.lines.filter(({ level }) => level === 'error')).toEqual([]);
  expect(JSON.parse(await receivables('projections', 'list', '-o', 'json'))).toMatchObject({ generation: 1 });
  api = new ApiClient(service.baseUrl, client);
});

test('the name is nothing that integrators see, and the service goes on', async () => {
  await name(fund, 'First');
  await name(other, 'Second');
  expect((await api.assign(loanRequest(fund, 'A', 4))).status).toBe(201);
  await api.untilStatus('A', 'active');
  const { body } = await api.call('GET', '/event');
  expect(JSON.stringify([body, (await api.call('GET', '/loan/A')).body])).not.toMatch(/First|fund[._]named/);
  expect(await receivables('events')).not.toMatch(/First|fund[._]named/);
  expect(await receivables('loan', 'list', '--fund', 'First', '-o', 'csv')).toMatch(
    /,fund_name\n.*,First\n$/,
  );
  const events = await receivables('events', '-o', 'csv', '--fund', 'First');
  expect(events).toMatch(/^position,.*,fund_id,fund_name,event_id,body\n.*,First,/);
  const shown = ['loan', 'audit'].map((noun) => receivables(noun, 'show', 'A', '-o', 'json'));
  for (const text of await Promise.all(shown))
    expect(text).toContain(`"fund_id":"${fund}","fund_name":"First"`);
});

test('an audit walks the names, and an anchor keeps them', async () => {
  const summary = JSON.parse(await receivables('audit', 'verify', '-o', 'json', '--write-anchor', anchor));
  expect(summary).toMatchObject({ differences: 0, streams: 4 });
  const ofFund = ['audit', 'verify', '-o', 'json', '--fund', 'First'];
  expect(JSON.parse(await receivables(...ofFund))).toMatchObject({ differences: 0, streams: 1 });
});

test('read models are built anew beside it and from nothing', async () => {
  const before = await listed();
  await receivables('projections', 'rebuild');
  await service.stop();
  for (const file of readdirSync(dataDir).filter((one) => one.startsWith('read-model')))
    rmSync(join(dataDir, file));
  service = await RunningService.start({ DATA_DIR: dataDir, SANDBOX_STEP: '1ms' });
  expect(await listed()).toBe(before);
  expect(JSON.parse(await receivables('loan', 'list', '--fund', 'First'))).toMatchObject({
    originator_proposal_code: 'A',
    fund_name: 'First',
  });
});

test('a backup holds it', async () => {
  const [before, copy] = [await listed(), join(directory, 'copy')];
  await receivables('backup', '--to', copy, '--with-key');
  await receivables('restore', '--from', copy, '--data-dir', restored);
  await service.stop();
  service = await RunningService.start({ DATA_DIR: restored, SANDBOX_STEP: '1ms' });
  receivables = receivablesOn(restored);
  expect(await listed()).toBe(before);
  await service.stop();
});

const NAMES = "stream_id = (select id from streams where name = 'fund-names')";
const changed = async (statement: string, ...options: readonly string[]) => {
  tamper(join(restored, 'events.db'), (db: DatabaseSync) => {
    if (Number(db.prepare(statement).run().changes) === 0) throw new Error(`changed nothing: ${statement}`);
  });
  const { code, lines } = await auditOf(restored, ['verify', '-o', 'json', ...options]);
  return [code, lines.slice(0, -1).map(({ kind, stream, what }) => `${kind} ${stream} ${what}`)] as const;
};

test('a name that was changed or taken away by hand is a difference', async () => {
  const [code, differences] = await changed(
    `update events set data = replace(data, 'Second', 'Third') where ${NAMES} and data like '%Second%'`,
  );
  expect([code, differences]).toEqual([4, expect.arrayContaining(['chain fund-names hash'])]);
  const [, vanished] = await changed(`delete from events where ${NAMES}`, '--anchor', anchor);
  expect(vanished).toEqual(expect.arrayContaining([expect.stringMatching(/^anchor fund-names/)]));
});
