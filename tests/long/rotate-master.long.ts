import { randomBytes, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { readConfiguration } from '../../infrastructure/composition/configuration.ts';
import { openFoundations } from '../../infrastructure/composition/foundations.ts';
import { migrate } from '../../application/sql/migrations/migrate.ts';
import { serviceMigrations } from '../../application/sql/migrations/service.ts';
import { SqliteEventStore } from '../../infrastructure/sqlite/event-log/sqlite-event-store.ts';
import { SqliteDatabase } from '../../infrastructure/sqlite/sqlite-database.ts';
import { SystemClock } from '../../infrastructure/support/time.ts';
import { MasterKey } from '../../infrastructure/security/master-key.ts';
import { sealText } from '../../infrastructure/security/aes-gcm.ts';
import { SqlKeyStore } from '../../application/coordination/key-store.ts';
import { ApiClient, loanRequest } from '../support/api-client.ts';
import { InsistentWriters } from '../support/insistent-writers.ts';
import { killedCommand } from '../support/killed-command.ts';
import { RecordingLogger } from '../support/recording-logger.ts';
import { ServiceProcess } from '../support/service-process.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { within } from '../support/within.ts';

const [OLD, NEW] = [randomBytes(32).toString('base64'), randomBytes(32).toString('base64')];
const BOTH = { MASTER_KEY: NEW, MASTER_KEY_PREVIOUS: OLD };
const MANY = 8_000;
const KILLS = 4;

const directory = temporaryDirectory();
let dataDir: string;
let service: ServiceProcess | undefined;

/** Keys as versions before key ids wrapped them: enough that a rotation can be killed in the middle. */
const fillAsOldVersionsDid = async (): Promise<void> => {
  await (await SqliteEventStore.open(dataDir)).close();
  const clock = new SystemClock();
  const database = await SqliteDatabase.open({
    path: join(dataDir, 'service.db'),
    synchronous: 'FULL',
    logger: new RecordingLogger(),
  });
  await migrate(database, serviceMigrations, clock.realNow());
  const key = MasterKey.parse(OLD)!;
  const store = new SqlKeyStore(database, clock);
  const check = sealText(key.derive('master-key:check'), 'opened', 'master-key:check');
  await store.putIfAbsent('master-key:check', check);
  const operationKeys = key.derive('operation-keys');
  const rows = Array.from({ length: MANY }, (_, i) => {
    const name = `operation:loan-old.${i}`;
    return {
      name,
      wrapped: sealText(operationKeys, randomBytes(32).toString('base64url'), name),
      created_at: clock.realNow(),
    };
  });
  const { builder } = database;
  for (let at = 0; at < MANY; at += 1_000) {
    const query = builder
      .insertInto('wrapped_key')
      .values(rows.slice(at, at + 1_000))
      .compile();
    await database.transaction([{ query }]);
  }
  await database.close();
};

/** How many texts name this master key; undefined when nothing could be read. */
const wrappedBy = (base64: string): number | undefined => {
  try {
    const db = new DatabaseSync(join(dataDir, 'service.db'), { readOnly: true, timeout: 1_000 });
    try {
      const start = `w2.${MasterKey.parse(base64)!.id}.%`;
      return Number(
        db.prepare('select count(*) as n from wrapped_key where wrapped like ?').get(start)!['n'],
      );
    } finally {
      db.close();
    }
  } catch {
    return undefined;
  }
};

/** Tokens name the addresses, which stay while ports come and go. */
const ADDRESS = 'http://service.example';

const start = (keys: NodeJS.ProcessEnv): Promise<ServiceProcess> =>
  ServiceProcess.start(dataDir, {
    ...{ SANDBOX_STEP: '10ms', WEBHOOK_ALLOW_PRIVATE_NETWORK: 'true' },
    ...{ PUBLIC_URL: ADDRESS, AUTH_URL: ADDRESS, ...keys },
  });

/** The secret of a webhook as a service with this key alone reads it. */
const secretOf = async (webhookId: string): Promise<string> => {
  const configuration = readConfiguration({ DATA_DIR: dataDir, MASTER_KEY: NEW });
  const { close, keys, serviceDatabase } = await openFoundations(configuration, new RecordingLogger());
  try {
    const query = serviceDatabase.builder
      .selectFrom('webhook_subscription')
      .select('sealed_secret')
      .where('webhook_id', '=', webhookId);
    const [row] = await serviceDatabase.read(query);
    return keys.masterKeys.unwrap('webhook-secrets', row!.sealed_secret, `webhook-secret:${webhookId}`);
  } finally {
    await close();
  }
};

beforeAll(async () => {
  dataDir = join(directory, 'data');
  await fillAsOldVersionsDid();
}, 900_000);

afterAll(() => service?.end('SIGKILL'));

test('the master key is rotated under load, through kills, and the new one alone is enough', async () => {
  service = await start({ MASTER_KEY: OLD });
  const client = await service.createClient(randomUUID());
  const api = new ApiClient(service.baseUrl, client);
  const request = loanRequest(api.fund, 'OP-1', 4);
  expect((await api.assign(request)).status).toBe(201);
  await api.untilStatus('OP-1', 'active');
  const settled = await api.settle('OP-1', '001', 950);
  const repeats = await Promise.all([api.assign(request), api.settle('OP-1', '001', 950)]);
  const hook = await api.call('POST', '/webhook', { url: 'https://127.0.0.1:9/hook', events: ['*'] });
  const shown = (await api.loan('OP-1')).body;
  await service.end('SIGTERM');

  service = await start(BOTH);
  const again = new ApiClient(service.baseUrl, client);
  const writers = new InsistentWriters(again, { writers: 2, installments: 2, prefix: 'R' });
  await writers.untilAcknowledged(6);
  let killed = 0;
  for (let i = 1; i <= KILLS; i += 1) {
    const reached = (): boolean => (wrappedBy(NEW) ?? 0) >= (i * MANY) / (KILLS + 2);
    if (await killedCommand(dataDir, ['keys', 'rotate-master'], reached, BOTH)) killed += 1;
  }
  const result = JSON.parse(await service.receivables('keys', 'rotate-master'));
  expect([killed, result.already > 0, result.rewrapped > 0]).toEqual([KILLS, true, true]);
  const acknowledged = writers.finished.length;
  await writers.untilAcknowledged(acknowledged + 6);
  await writers.stop();
  expect(wrappedBy(OLD)).toBe(0);
  await service.end('SIGTERM');

  await expect(start({ MASTER_KEY: OLD })).rejects.toThrow('MASTER_KEY is not the key');
  service = await start({ MASTER_KEY: NEW });
  // The client goes on with the token that it has.
  const after = api.at(service.baseUrl);
  const repeated = await Promise.all([after.assign(request), after.settle('OP-1', '001', 950)]);
  expect(repeated.map(({ status, body }) => [status, body])).toEqual(
    repeats.map(({ status, body }) => [status, body]),
  );
  expect(repeated[1].body).toEqual(settled.body);
  const other = loanRequest(api.fund, 'OP-1', 5);
  expect((await after.assign(other)).status).toBe(409);
  expect((await after.loan('OP-1')).body.borrower).toEqual(shown.borrower);
  const found = await service.receivables(
    'borrower',
    'forget',
    '--document',
    '52998224725',
    '--yes',
    '--including-open',
  );
  expect(found).toContain('OP-1');
  expect((await after.loan('OP-1')).body.borrower).toBeNull();
  expect(await service.receivables('audit', 'verify', '-o', 'table')).toContain('no difference');
  await service.end('SIGTERM');
  expect(await secretOf(hook.body.webhook_id)).toBe(hook.body.signing_secret);
}, 900_000);

test('a sandbox that keeps its key in a file gets a new one while it runs, and a stolen signing key is ended', async () => {
  await service?.end('SIGKILL');
  dataDir = join(directory, 'sandbox');
  service = await start({});
  const client = await service.createClient(randomUUID());
  const api = new ApiClient(service.baseUrl, client);
  expect((await api.assign(loanRequest(api.fund, 'S-1', 4))).status).toBe(201);
  const before = await readFile(join(dataDir, 'master.key'), 'utf8');
  const rotated = JSON.parse(await service.receivables('keys', 'rotate-master'));
  expect(rotated.rewrapped).toBeGreaterThan(0);
  expect(await readFile(join(dataDir, 'master.key'), 'utf8')).not.toBe(before);
  expect((await api.assign(loanRequest(api.fund, 'S-2', 4))).status).toBe(201);
  const hook = await api.call('POST', '/webhook', { url: 'https://127.0.0.1:9/hook', events: ['*'] });
  expect(hook.status).toBe(200);

  const [header = ''] = (await api.token()).split('.');
  const { kid } = JSON.parse(Buffer.from(header, 'base64url').toString()) as { readonly kid: string };
  // One of 64 ids begins with a hyphen.
  await service.receivables('keys', 'revoke', '--', kid);
  await within('its tokens are refused', 60_000, async () => (await api.loan('S-1')).status === 401);
  const again = new ApiClient(service.baseUrl, client);
  for (const code of ['S-1', 'S-2']) expect((await again.loan(code)).body.borrower.name).toBe('Joana Prado');

  await service.end('SIGTERM');
  await service.start();
  for (const code of ['S-1', 'S-2']) expect((await again.loan(code)).body.borrower.name).toBe('Joana Prado');
  expect(await service.receivables('audit', 'verify', '-o', 'table')).toMatch(/events sealed.*no difference/);
}, 900_000);
