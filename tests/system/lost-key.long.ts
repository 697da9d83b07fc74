import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, test } from '@jest/globals';
import { ApiClient, loanRequest } from '../support/api-client.ts';
import { givesUpLostKey } from '../support/lost-key.ts';
import { ServiceProcess } from '../support/service-process.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

let service: ServiceProcess | undefined;
afterEach(() => service?.end('SIGKILL'));

test('an operation whose key and index entry are lost is given up by its code and reads as forgotten', async () => {
  service = await ServiceProcess.start(temporaryDirectory(), { SANDBOX_STEP: '1h' });
  const api = new ApiClient(service.baseUrl, await service.createClient(randomUUID()));
  await api.assign(loanRequest(api.fund, 'LOST', 1));
  const { dataDir } = service;
  await givesUpLostKey(service, { api, code: 'LOST' }, () => {
    const database = new DatabaseSync(join(dataDir, 'service.db'));
    database.exec(`delete from wrapped_key where name like 'operation:%'; delete from borrower_operation`);
    database.close();
  });
}, 300_000);
