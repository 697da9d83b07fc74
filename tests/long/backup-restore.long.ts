import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ApiClient } from '../support/api-client.ts';
import { InsistentWriters } from '../support/insistent-writers.ts';
import { ServiceProcess } from '../support/service-process.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const directory = temporaryDirectory();
let service: ServiceProcess;
let restored: ServiceProcess | undefined;

beforeAll(async () => {
  service = await ServiceProcess.start(join(directory, 'data'), { SANDBOX_STEP: '10ms' });
}, 300_000);

afterAll(async () => {
  await service?.end('SIGKILL');
  await restored?.end('SIGKILL');
});

test('a backup under load holds everything acknowledged before it, and a service starts on what is restored', async () => {
  const [backup, data] = ['backup', 'restored'].map((name) => join(directory, name)) as [string, string];
  const client = await service.createClient(randomUUID());
  const api = new ApiClient(service.baseUrl, client);
  const writers = new InsistentWriters(api, { writers: 2, installments: 2, prefix: 'B' });
  await writers.untilAcknowledged(12);
  const before = await Promise.all(writers.finished.map(async (code) => (await api.readable(code)).body));
  expect(before.length).toBeGreaterThan(0);

  const summary = JSON.parse(await service.receivables('backup', '--to', backup, '--with-key'));
  expect(summary).toMatchObject({ backup, master_key_contained: true, verified: true });
  await writers.stop();
  await service.end('SIGTERM');

  const answer = JSON.parse(await service.receivables('restore', '--from', backup, '--data-dir', data));
  expect(answer).toMatchObject({ restored: data, log: summary.log, verified: true });
  restored = await ServiceProcess.start(data, { SANDBOX_STEP: '10ms' });
  const again = new ApiClient(restored.baseUrl, client);
  for (const loan of before) {
    const read = await again.readable(loan.originator_proposal_code as string);
    expect({ status: read.status, body: read.body }).toEqual({ status: 200, body: loan });
  }
  const refused = service.receivables('restore', '--from', backup, '--data-dir', data);
  await expect(refused).rejects.toThrow('is not empty');
}, 300_000);
