import { randomUUID } from 'node:crypto';
import { cp, mkdir, readdir, rename, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { backupsOf, requireServiceData } from '../../infrastructure/composition/data-directory.ts';
import { readConfiguration } from '../../infrastructure/composition/configuration.ts';
import { partsOf } from '../../infrastructure/composition/container.ts';
import { openFoundations } from '../../infrastructure/composition/foundations.ts';
import { tellLostParts } from '../../infrastructure/composition/lost-parts.ts';
import { examine } from '../../infrastructure/composition/maintenance/doctor.ts';
import { startService } from '../../infrastructure/composition/service.ts';
import { ApiClient, loanRequest } from '../support/api-client.ts';
import { commandLineBeside } from '../support/command-line-beside.ts';
import { RecordingLogger } from '../support/recording-logger.ts';
import { RunningService } from '../support/running-service.ts';
import { freePort } from '../support/service-process.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const FOUR_OPERATIONS = ['A', 'B', 'C', 'D'];

const directory = temporaryDirectory();
let kept: string;
let dataDir: string;

/** A service that was used and stopped, copied for each test. */
beforeAll(async () => {
  kept = join(directory, 'kept');
  const service = await RunningService.start();
  const api = await service.client();
  for (const code of FOUR_OPERATIONS)
    expect((await api.assign(loanRequest(api.fund, code, 1))).status).toBe(201);
  for (const code of FOUR_OPERATIONS) await api.untilStatus(code, 'active');
  const { dataDir: left } = service.service.parts.configuration;
  await service.service.stop();
  await cp(left, kept, { recursive: true });
  await rm(left, { recursive: true });
});

beforeEach(async () => {
  dataDir = join(directory, randomUUID());
  await cp(kept, dataDir, { recursive: true });
});
afterEach(() => rm(dataDir, { recursive: true, force: true }));

const inData = (file: string): string => join(dataDir, file);
const environment = () => ({ DATA_DIR: dataDir, METRICS_PORT: 'off' });
const configuration = () => readConfiguration(environment());

/** What the start says, and the names that it has added. */
const start = async (
  logger = new RecordingLogger(),
): Promise<{
  readonly refusal: string | undefined;
  readonly made: readonly string[];
}> => {
  const before = new Set(await readdir(dataDir));
  const refusal = await openFoundations(configuration(), logger, { part: 'service' }).then(
    async ({ close }) => void (await close()),
    (error: Error) => error.message,
  );
  return {
    refusal,
    made: (await readdir(dataDir)).filter((name) => !before.has(name) && !/-(wal|shm)$/.test(name)),
  };
};

const change = (file: string, ...statements: readonly string[]): void => {
  const database = new DatabaseSync(inData(file), { timeout: 5_000 });
  for (const statement of statements) database.exec(statement);
  database.close();
};

const cutLog = (at: number): void =>
  change('events.db', 'drop trigger events_never_leave', `delete from events where position > ${at}`);

describe('a start without a part that was there is refused in one line that names the file, and makes none', () => {
  test.each([
    ['events.db', 'service.db'],
    ['service.db', 'events.db'],
  ])('%s is missing', async (file, beside) => {
    await rm(inData(file));
    const line = `${inData(file)} is missing beside ${beside}: put it back, or restore a backup into an empty directory with \`receivables restore\``;
    expect(await start()).toEqual({ refusal: line, made: [] });
    expect(() => requireServiceData(configuration())).toThrow(line);
  });

  test('both databases are missing beside what they were the truth of', async () => {
    for (const file of ['events.db', 'service.db']) await rm(inData(file));
    expect((await start()).refusal).toContain('events.db is missing beside read-model-1.db');
    await rm(inData('read-model-1.db'));
    expect((await start()).refusal).toContain('events.db is missing beside documents');
    await rm(inData('documents'), { recursive: true });
    expect((await start()).refusal).toBeUndefined();
  });

  test('master.key is missing, empty, or another one: no read model is built before', async () => {
    for (const file of ['master.key', 'read-model-1.db']) await rm(inData(file));
    const missing = await start();
    expect(missing).toEqual({
      refusal: expect.stringContaining(`${inData('master.key')} is missing: `),
      made: [],
    });
    await writeFile(inData('master.key'), '');
    expect((await start()).refusal).toContain(`${inData('master.key')} is empty: `);
    await writeFile(inData('master.key'), `${Buffer.alloc(32, 7).toString('base64')}\n`);
    expect(await start()).toEqual({
      refusal: expect.stringContaining(`${inData('master.key')} is not the key`),
      made: [],
    });
  });

  test('service.db was made anew: empty, or with tables and nothing in them', async () => {
    await truncate(inData('service.db'));
    const line = `${inData('service.db')} is empty, and the event store holds`;
    const refused = async () => {
      expect((await start()).refusal).toContain(line);
      // A command would make keys there, and the next start would take them for those of the events.
      for (const command of [['doctor'], ['status'], ['audit', 'verify']])
        expect((await commandLineBeside(environment())(...command)).code).toBe(1);
      expect((await start()).refusal).toContain(line);
    };
    await refused();
    expect((await stat(inData('service.db'))).size).toBe(0);
    await cp(join(kept, 'service.db'), inData('service.db'));
    change('service.db', 'delete from wrapped_key');
    await refused();
  });
});

describe('a log that is older than what follows it', () => {
  test.each([8, 0])('is refused, cut to %i events', async (at) => {
    cutLog(at);
    const { refusal } = await start();
    expect(refusal).toMatch(/^\S+\/events\.db: the event log is older than outbox-relay, which follows it: /);
    expect(refusal).toContain(`beyond the end of the event log (${at})`);
    expect(refusal).toContain('receivables restore');
  });

  test('is refused for its read models too, and for nothing else once their file is deleted', async () => {
    cutLog(8);
    change('service.db', 'delete from checkpoint');
    expect((await start()).refusal).toContain('the event log is older than loan, which follows it');
    await rm(inData('read-model-1.db'));
    expect((await start()).refusal).toBeUndefined();
  });

  test('takes nothing of a command either', async () => {
    cutLog(8);
    const opened = await openFoundations(configuration(), new RecordingLogger());
    const event = { id: randomUUID(), type: 'x', data: '{}' as never, metadata: {} as never };
    await expect(opened.eventStore.append('loan-x.X', 'no_stream', [event])).rejects.toThrow('is older than');
    await opened.close();
  });

  test('takes no writes when it becomes older while the service runs, and readiness says so', async () => {
    const port = await freePort();
    const baseUrl = `http://127.0.0.1:${port}`;
    const variables = { DATA_DIR: dataDir, HOST: '127.0.0.1', PORT: String(port), METRICS_PORT: 'off' };
    const urls = { PUBLIC_URL: baseUrl, AUTH_URL: baseUrl };
    const foundations = await openFoundations(
      readConfiguration({ ...variables, ...urls }),
      new RecordingLogger(),
      { part: 'service' },
    );
    const service = await startService(foundations);
    try {
      const created = await service.parts.clients.create({ name: 'test', fundIds: [randomUUID()] });
      const { clientId: client_id, clientSecret: client_secret, applicationId, fundIds } = created;
      const api = new ApiClient(baseUrl, {
        ...{ client_id, client_secret },
        ...{ application_id: applicationId, fund_ids: fundIds },
      });
      cutLog(8);
      await foundations.logFit.look();
      const refused = await api.assign(loanRequest(api.fund, 'NEXT', 1));
      expect([refused.status, refused.body.error_code]).toEqual([503, 'service_unavailable']);
      expect(refused.headers.get('retry-after')).not.toBeNull();
      const ready = await fetch(`${baseUrl}/health/ready`);
      expect([ready.status, ((await ready.json()) as { message: string }).message]).toEqual([
        503,
        expect.stringContaining('event_store: failing'),
      ]);
    } finally {
      await service.stop();
    }
  });
});

describe('what is no reason to refuse', () => {
  test('read models that were deleted are built again, and each event counts once', async () => {
    await rm(inData('read-model-1.db'));
    const logger = new RecordingLogger();
    expect((await start(logger)).refusal).toBeUndefined();
    const log = new DatabaseSync(inData('events.db'), { readOnly: true });
    const { events } = log.prepare('select count(*) as events from events').get() as { events: number };
    log.close();
    const built = logger.lines.find(({ message }) => message === 'the read models were built');
    expect(built?.fields).toEqual({ generation: expect.any(Number), events });
  });

  test('read models of another log, which data was put beside, are built again', async () => {
    const other = await RunningService.start();
    const api = await other.client();
    expect((await api.assign(loanRequest(api.fund, 'FOREIGN', 1))).status).toBe(201);
    expect((await api.readable('FOREIGN')).status).toBe(200);
    await other.service.stop();
    await rm(inData('read-model-1.db'));
    await cp(join(other.service.parts.configuration.dataDir, 'read-model-1.db'), inData('read-model-1.db'));
    await other.stop();
    const logger = new RecordingLogger();
    expect((await start(logger)).refusal).toBeUndefined();
    expect(logger.lines).toContainEqual(
      expect.objectContaining({
        fields: {
          event: 'read_model_damaged',
          generation: 1,
          reason: expect.stringMatching(
            /of another event log: it shows event \d+ of loan-\S+\.FOREIGN, which/,
          ),
        },
      }),
    );
    const rows = new DatabaseSync(inData('read-model-2.db'), { readOnly: true });
    const codes = rows.prepare('select code from loan order by code').all();
    rows.close();
    expect(codes.map(({ code }) => code)).toEqual(FOUR_OPERATIONS);
  });

  test.each([
    ['nothing', []],
    ['a key that was provided', ['master.key']],
    ['an empty log', ['events.db']],
    ['an empty log and a database without keys', ['events.db', 'service.db']],
  ])('a first start that was killed: %s', async (_, left) => {
    await rename(dataDir, `${dataDir}-first`);
    dataDir = `${dataDir}-first`;
    for (const name of await readdir(dataDir))
      if (!left.includes(name)) await rm(inData(name), { recursive: true });
    if (left.includes('events.db')) cutLog(0);
    if (left.includes('service.db'))
      change('service.db', 'delete from wrapped_key', 'delete from checkpoint');
    expect((await start()).refusal).toBeUndefined();
  });
});

const receivables = (...args: readonly string[]) => commandLineBeside(environment())(...args);

describe('what the newest operations need and is not there', () => {
  /** What the service says of it once it is ready, and what the doctor says. */
  const told = async () => {
    const logger = new RecordingLogger();
    const foundations = await openFoundations(configuration(), logger, { part: 'service' });
    const parts = partsOf(foundations);
    await tellLostParts(parts, parts.readModels.caughtUp);
    await foundations.close();
    const findings = await examine(environment(), () => new RecordingLogger());
    const stateOf = (name: string) => findings.find(({ check }) => check === name)?.state;
    return {
      lines: logger.lines.flatMap(({ level, fields }) => (level === 'error' ? [fields] : [])),
      keys: stateOf('operation_keys'),
      documents: stateOf('documents'),
    };
  };
  const NOTHING = { lines: [], keys: 'ok', documents: 'ok' };

  test('is told: keys of a service.db that is older than the log', async () => {
    expect(await told()).toEqual(NOTHING);
    change('service.db', `delete from wrapped_key where name like 'operation:%.D'`);
    expect(await told()).toEqual({
      lines: [{ event: 'keys_lost', lost: 1, of_newest: 4, stream: expect.stringMatching(/\.D$/) }],
      keys: 'failed',
      documents: 'ok',
    });
  });

  test('is told of operations that read models of the same age do not know yet', async () => {
    const service = await RunningService.start({ DATA_DIR: dataDir });
    const api = await service.client();
    expect((await api.assign(loanRequest(api.fund, 'E', 1))).status).toBe(201);
    await service.stop();
    await cp(join(kept, 'read-model-1.db'), inData('read-model-1.db'));
    change('service.db', `delete from wrapped_key where name like 'operation:%.E'`);
    expect((await told()).lines).toMatchObject([{ event: 'keys_lost', lost: 1, of_newest: 5 }]);
  });

  test.each(['no directory', 'an empty one, as where nothing is mounted'])(
    'is told: documents, %s',
    async (left) => {
      await rm(inData('documents'), { recursive: true });
      if (left !== 'no directory') await mkdir(inData('documents'));
      expect(await told()).toEqual({
        lines: [{ event: 'documents_lost', lost: 4, of_newest: 4, stream: expect.any(String) }],
        keys: 'ok',
        documents: 'failed',
      });
    },
  );

  test('is not told of a borrower who was forgotten, of whom the rows do not know it yet', async () => {
    const forget = ['borrower', 'forget', '--document', '52998224725', '--yes', '--including-open'];
    expect((await receivables(...forget)).code).toBe(0);
    const rows = new DatabaseSync(inData('read-model-1.db'), { readOnly: true });
    // Also where no service runs, so that no process shows what a key in its memory would open.
    expect(rows.prepare(`select count(*) as sealed from loan where borrower <> ''`).get()).toEqual({
      sealed: 0,
    });
    rows.close();
    await cp(join(kept, 'read-model-1.db'), inData('read-model-1.db'));
    expect(await told()).toEqual(NOTHING);
  });
});

test('an anchor shows that a state from before the first one was put back', async () => {
  const anchor = join(directory, 'anchor.jsonl');
  const service = await RunningService.start({ DATA_DIR: dataDir });
  const api = await service.client();
  expect((await api.assign(loanRequest(api.fund, 'LATER', 1))).status).toBe(201);
  await service.stop();
  expect((await receivables('audit', 'anchor', '--output', anchor)).code).toBe(0);
  await rm(dataDir, { recursive: true });
  await cp(kept, dataDir, { recursive: true });
  const { code, out, err } = await receivables('audit', 'verify', '--anchor', anchor, '-o', 'json');
  expect({ code, err }).toEqual({ code: 4, err: expect.stringContaining('difference(s) found') });
  expect(out).toContain('"kind":"anchor"');
});

describe('a restore', () => {
  const restore = async (from: string): Promise<unknown> =>
    backupsOf({}).restore({ from, dataDir, onStep: () => undefined });

  test('starts, and one that was interrupted is said to be one and goes on', async () => {
    const backup = join(directory, randomUUID());
    const request = { to: backup, withKey: true, onStep: () => undefined };
    await backupsOf({ DATA_DIR: dataDir }).write(request);
    await rm(dataDir, { recursive: true });
    await restore(backup);
    // As a kill leaves it that comes while the parts are put in their places.
    for (const name of ['.restoring', 'documents/x']) await mkdir(inData(name), { recursive: true });
    await restore(backup);
    for (const name of ['.restoring', 'documents/x']) await mkdir(inData(name), { recursive: true });
    await rm(inData('events.db'));
    expect((await start()).refusal).toContain('holds a restore that was interrupted');
    await restore(backup);
    expect(await readdir(dataDir)).toEqual(expect.arrayContaining(['events.db', 'service.db', 'master.key']));
    expect((await start()).refusal).toBeUndefined();
    await expect(restore(backup)).rejects.toThrow('is not empty');
  });
});
