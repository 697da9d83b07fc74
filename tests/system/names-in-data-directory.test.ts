import { randomUUID } from 'node:crypto';
import { watch } from 'node:fs';
import type { FSWatcher } from 'node:fs';
import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { writeMigrationMarker } from '../../infrastructure/embedded/migration-marker.ts';
import { isOfService } from '../../infrastructure/composition/data-parts.ts';
import { ApiClient, loanRequest, smallPdf } from '../support/api-client.ts';
import { ServiceProcess } from '../support/service-process.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let service: ServiceProcess;
let watchers: FSWatcher[];
let names: Set<string>;

beforeEach(async () => {
  directory = await temporaryDirectory();
  watchers = [];
  names = new Set();
});

afterEach(async () => {
  for (const watcher of watchers) watcher.close();
  await service?.end('SIGKILL');
  await directory.remove();
});

/** Also what is there for a moment only. */
const watched = async (name: string): Promise<string> => {
  const path = join(directory.path, name);
  await mkdir(path, { mode: 0o700 });
  watchers.push(watch(path, (_change, file) => void names.add(file!)));
  return path;
};

test('whatever a service and its commands make in DATA_DIR is known as theirs by its name', async () => {
  const [data, restored] = [await watched('data'), await watched('restored')];
  service = await ServiceProcess.start(data, { SANDBOX_STEP: '10ms' });
  const api = new ApiClient(service.baseUrl, await service.createClient(randomUUID()));
  const large = Buffer.concat([smallPdf(), Buffer.alloc(300_000, ' ')]);
  expect((await api.assign(loanRequest(api.fund, 'OP-1'), large)).status).toBe(201);
  await api.untilStatus('OP-1', 'active');
  await service.receivables('administrator', 'approve', 'OP-NOBODY').catch(() => undefined);
  await service.receivables('projections', 'rebuild');
  await service.receivables('key', 'rotate-master');
  const backup = join(directory.path, 'backup');
  await service.receivables('backup', '--to', backup, '--with-key');
  await service.receivables('restore', '--from', backup, '--data-dir', restored);
  await service.end('SIGTERM');
  await writeMigrationMarker(data, { id: randomUUID(), state: 'moving', rows: ['documents'], at: 'now' });

  for (const path of [data, restored]) for (const name of await readdir(path)) names.add(name);
  expect([...names].filter((name) => !isOfService(name))).toEqual([]);
});
