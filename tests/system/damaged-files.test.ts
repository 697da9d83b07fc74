import { closeSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { DamagedStoreError } from '../../application/ports/event-store.ts';
import { examine } from '../../infrastructure/composition/maintenance/doctor.ts';
import type { ApiClient } from '../support/api-client.ts';
import { loanRequest } from '../support/api-client.ts';
import { commandLine } from '../support/command-line.ts';
import { untilReady } from '../support/mortal-service.ts';
import { RecordingLogger } from '../support/recording-logger.ts';
import { RunningService } from '../support/running-service.ts';
import { within } from '../support/within.ts';

const PAGE = 4_096;
const OPERATIONS = 6;

let service: RunningService;
let api: ApiClient;
let dataDir: string;

beforeEach(async () => {
  service = await RunningService.start();
  api = await service.client();
  dataDir = service.service.parts.configuration.dataDir;
  for (let n = 0; n < OPERATIONS; n++)
    expect((await api.assign(loanRequest(api.fund, `D-${n}`, 60))).status).toBe(201);
  for (let n = 0; n < OPERATIONS; n++) await api.untilStatus(`D-${n}`, 'active');
});
afterEach(() => service.stop());

/** Overwrites pages of a table while the file is in use, but the first page of each table and index. */
const damage = (file: string): void => {
  const path = join(dataDir, file);
  const database = new DatabaseSync(path);
  database.exec('pragma wal_checkpoint(truncate)');
  const roots = new Set(
    database
      .prepare('select rootpage from sqlite_master')
      .all()
      .map(({ rootpage }) => rootpage),
  );
  const pages = Number(database.prepare('pragma page_count').get()!['page_count']);
  // So that every connection drops the pages that it remembers.
  database.exec('create table if not exists touched (at integer)');
  database.exec('pragma wal_checkpoint(truncate)');
  database.close();
  const handle = openSync(path, 'r+');
  for (let page = 2; page <= pages; page++)
    if (!roots.has(page)) writeSync(handle, Buffer.alloc(PAGE, 0xa5), 0, PAGE, (page - 1) * PAGE);
  closeSync(handle);
};

test('a damaged read model serves no more, and another is built while commands go on', async () => {
  damage('read-model-1.db');
  const seen: number[] = [];
  let [settled, ready] = [0, 503];
  for (const deadline = Date.now() + 60_000; seen.at(-1) !== 200 && Date.now() < deadline;) {
    seen.push((await api.call('GET', '/loan?limit=200')).status);
    if (seen.at(-1) === 200) break;
    // Between two refusals: right after one the other may serve.
    expect(ready).toBe(503);
    ready = (await fetch(`${service.baseUrl}/health/ready`)).status;
    settled = (await api.settle('D-1', '001', 950, { idempotency_key: 'meanwhile' })).status;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  expect(seen[0]).toBe(503);
  expect([settled, seen.at(-1)]).toEqual([200, 200]);
  expect((await api.call('GET', '/loan?limit=200')).body.data).toHaveLength(OPERATIONS);
  expect((await api.loan('D-1')).body.balances.received_value).toBe(950);
  await untilReady(service);
  const told = service.logger.lines.filter(({ fields }) =>
    JSON.stringify(fields).includes('read_model_damaged'),
  );
  expect(told).toHaveLength(1);
  expect(JSON.stringify(told)).toMatch(
    /read-model-1\.db is damaged \((Error: )?database disk image is malformed\)/,
  );

  const services = service.service.parts;
  const states = new Map<number, string>();
  for await (const { generation, state } of services.maintenance.readModels.list())
    states.set(generation, state);
  expect([...states]).toEqual([
    [1, 'damaged'],
    [2, 'serving'],
  ]);
  const findings = await examine({ DATA_DIR: dataDir }, () => new RecordingLogger());
  expect(findings.find(({ check }) => check === 'read_models')).toMatchObject({
    state: 'warning',
    detail: expect.stringContaining('generation 2 serves; 1 was damaged'),
  });
  expect(await services.maintenance.readModels.dropOld()).toEqual([1]);
});

test('a generation that a process of an older release builds, and lets serve, is followed by one of this release', async () => {
  const files = [1, 2].map((number) => join(dataDir, `read-model-${number}.db`)) as [string, string];
  const from = new DatabaseSync(files[0]);
  from.prepare('vacuum into ?').run(files[1]);
  from.close();
  const older = new DatabaseSync(files[1]);
  older.exec('update projection_checkpoint set version = version - 1');
  older.close();
  const register = new DatabaseSync(join(dataDir, 'service.db'));
  register.exec(`begin immediate;
    update read_model_generation set state = 'damaged' where number = 1;
    insert into read_model_generation (number, state) values (2, 'serving');
    commit`);
  register.close();
  await within('the next one serves', 30_000, async () => {
    const listed = await Array.fromAsync(service.service.parts.maintenance.readModels.list());
    return listed.some(({ generation, state }) => generation === 3 && state === 'serving');
  });
  expect((await api.settle('D-1', '001', 950)).status).toBe(200);
  expect((await api.readable('D-1')).body.balances.received_value).toBe(950);
});

test('audit verify says at once that the log is malformed, and where', async () => {
  damage('events.db');
  const services = service.service.parts;
  const run = commandLine(() => services);
  const begun = performance.now();
  const { code, err } = await run('audit', 'verify');
  expect(performance.now() - begun).toBeLessThan(10_000);
  expect([code, err]).toEqual([
    1,
    expect.stringMatching(
      /events\.db is damaged \((Error: )?database disk image is malformed\), (after position|in stream)/,
    ),
  ]);
  const log = service.service.parts.eventStore;
  const reading = async (): Promise<void> => {
    const { signal } = new AbortController();
    for await (const { kind } of log.subscribe({ from: 'start', signal })) if (kind === 'caught_up') return;
  };
  await expect(reading()).rejects.toBeInstanceOf(DamagedStoreError);
});
