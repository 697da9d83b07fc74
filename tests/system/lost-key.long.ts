import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, expect, test } from '@jest/globals';
import { loanRequest } from '../support/api-client.ts';
import { givesUpLostKey, printedBy } from '../support/lost-key.ts';
import { ServiceProcess } from '../support/service-process.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

let service: ServiceProcess | undefined;
afterEach(() => service?.end('SIGKILL'));

const changeIn = (dataDir: string, change: (database: DatabaseSync) => void): void => {
  const database = new DatabaseSync(join(dataDir, 'service.db'));
  change(database);
  database.close();
};

test('a key that was lost is a fault of ours until it is put back or given up, and only then a borrower who was forgotten', async () => {
  service = await ServiceProcess.start(temporaryDirectory(), { SANDBOX_STEP: '1h' });
  const { dataDir } = service;
  const doctor = async (): Promise<string> => (await printedBy(service!, 'doctor')).out;
  const api = await service.client();
  expect((await api.assign(loanRequest(api.fund, 'LOST', 1))).status).toBe(201);
  // A start looks at the newest operations of the read models: without this one it would tell of it a minute later.
  expect((await api.call('GET', '/loan')).body.data).toHaveLength(1);
  expect(await doctor()).toContain('"check":"operation_keys","state":"ok"');
  await service.end('SIGTERM');
  // As a fail-over does to a database that lacks the last commits.
  const ofOperations = `from wrapped_key where name like 'operation:%'`;
  changeIn(dataDir, (database) =>
    database.exec(`create table kept as select * ${ofOperations}; delete ${ofOperations}`),
  );
  await service.start();
  await service.printed('"event":"keys_lost"');
  const failed = await api.call('GET', '/loan/LOST');
  expect([failed.status, failed.body]).toMatchObject([500, { error_code: 'internal_error' }]);
  await service.printed('"event":"key_missing"');
  expect(service.output).toContain('KeysMissing');
  expect(await doctor()).toContain('"check":"operation_keys","state":"failed","detail":"1 of the newest 1');
  changeIn(dataDir, (database) =>
    database.exec('insert into wrapped_key select * from kept; drop table kept'),
  );
  const read = await api.call('GET', '/loan/LOST');
  expect([read.status, read.body]).toMatchObject([
    200,
    { borrower: { document_number: expect.any(String) } },
  ]);

  await givesUpLostKey(service, { api, code: 'LOST' }, () =>
    changeIn(dataDir, (database) => database.exec(`delete ${ofOperations}; delete from borrower_operation`)),
  );
}, 300_000);
