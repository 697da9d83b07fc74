import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, expect, test } from '@jest/globals';
import { ApiClient, loanRequest } from '../support/api-client.ts';
import { printedBy } from '../support/lost-key.ts';
import { ServiceProcess } from '../support/service-process.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

let service: ServiceProcess | undefined;
afterEach(() => service?.end('SIGKILL'));

interface Row {
  readonly name: string;
  readonly wrapped: string;
  readonly created_at: string;
}

/** As a fail-over does to a database that lacks the last commits. */
const loseKey = (dataDir: string): (() => void) => {
  const change = <Result>(work: (database: DatabaseSync) => Result): Result => {
    const database = new DatabaseSync(join(dataDir, 'service.db'));
    try {
      return work(database);
    } finally {
      database.close();
    }
  };
  const lost = change((database) =>
    database.prepare(`delete from wrapped_key where name like 'operation:%' returning *`).all(),
  ) as unknown as readonly Row[];
  expect(lost).toHaveLength(1);
  const [{ name, wrapped, created_at }] = lost as readonly [Row];
  return () =>
    change((database) =>
      database.prepare('insert into wrapped_key values (?, ?, ?)').run(name, wrapped, created_at),
    );
};

const doctor = async (): Promise<string> => (await printedBy(service!, 'doctor')).out;

test('a key that was lost is a fault of ours until it is put back, and never a borrower who was forgotten', async () => {
  service = await ServiceProcess.start(temporaryDirectory(), { SANDBOX_STEP: '1h' });
  const api = new ApiClient(service.baseUrl, await service.createClient(randomUUID()));
  expect((await api.assign(loanRequest(api.fund, 'LOST', 1))).status).toBe(201);
  expect(await doctor()).toContain('"check":"operation_keys","state":"ok"');
  await service.end('SIGTERM');
  const putBack = loseKey(service.dataDir);
  await service.start();
  await service.printed('"event":"keys_lost"');
  const failed = await api.call('GET', '/loan/LOST');
  expect([failed.status, failed.body]).toMatchObject([500, { error_code: 'internal_error' }]);
  await service.printed('"event":"key_missing"');
  expect(service.output).toContain('KeysMissing');
  expect(await doctor()).toContain('"check":"operation_keys","state":"failed","detail":"1 of the newest 1');
  putBack();
  const read = await api.call('GET', '/loan/LOST');
  expect([read.status, read.body]).toMatchObject([
    200,
    { borrower: { document_number: expect.any(String) } },
  ]);
}, 60_000);
