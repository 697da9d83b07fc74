import { afterAll, test } from '@jest/globals';
import { Client } from 'pg';
import { loanRequest } from '../support/api-client.ts';
import { givesUpLostKey } from '../support/lost-key.ts';
import { testPostgres } from '../support/postgres/test-postgres.ts';
import { ServiceProcess } from '../support/service-process.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const closing: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const close of closing.reverse()) await close();
});

test('PostgreSQL: an operation whose key and index entry are lost is given up by its code and reads as forgotten', async () => {
  const postgres = await testPostgres();
  closing.push(() => postgres.close());
  const directory = temporaryDirectory();
  const url = await postgres.schema();
  const environment = { SANDBOX_STEP: '1h', DATABASE_URL: url };
  const service = await ServiceProcess.start(directory, environment);
  closing.push(() => service.end('SIGKILL'));
  const api = await service.client();
  await api.assign(loanRequest(api.fund, 'LOST', 1));
  await api.readable('LOST');
  await givesUpLostKey(service, { api, code: 'LOST' }, async () => {
    const client = new Client({ connectionString: url });
    await client.connect();
    await client.query(`delete from wrapped_key where name like 'operation:%'`);
    await client.query('delete from borrower_operation');
    await client.end();
  });
}, 300_000);
