import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { loanRequest } from '../support/api-client.ts';
import { ServiceProcess } from '../support/service-process.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const directory = temporaryDirectory();
let service: ServiceProcess | undefined;
let umask: number;
beforeAll(async () => {
  umask = process.umask(0o022);
});
afterAll(async () => {
  process.umask(umask);
  await service?.end('SIGTERM');
});

const openTo = async (place: string): Promise<readonly string[]> => {
  const paths = [place, ...(await readdir(place, { recursive: true })).map((name) => join(place, name))];
  const modes = await Promise.all(
    paths.map(async (path) => [path, (await stat(path)).mode & 0o077] as const),
  );
  return modes.filter(([, mode]) => mode !== 0).map(([path]) => path);
};

test('whatever the service and its commands write is for their owner alone', async () => {
  const [data, backup, anchor] = ['data', 'backup', 'anchor.jsonl'].map((name) => join(directory, name));
  service = await ServiceProcess.start(data!, { SANDBOX_STEP: '0ms' });
  const api = await service.client();
  expect((await api.assign(loanRequest(api.fund, 'PRIVATE-1', 1))).status).toBe(201);
  await service.receivables('backup', '--to', backup!, '--with-key');
  await service.receivables('audit', 'verify', '--write-anchor', anchor!);
  expect(await openTo(data!)).toEqual([]);
  expect(await openTo(backup!)).toEqual([]);
  expect((await stat(anchor!)).mode & 0o077).toBe(0);
}, 300_000);
