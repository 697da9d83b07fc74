import { randomUUID } from 'node:crypto';
import { watch } from 'node:fs';
import type { FSWatcher } from 'node:fs';
import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { writeMigrationMarker } from '../../infrastructure/embedded/directory-lock.ts';
import { isOfService } from '../../infrastructure/composition/data-parts.ts';
import { loanRequest, smallPdf } from '../support/api-client.ts';
import { receivablesOn } from '../support/command-line-beside.ts';
import { RunningService } from '../support/running-service.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

let directory: string;
let service: RunningService;
let watchers: FSWatcher[];
let names: Set<string>;

beforeEach(async () => {
  directory = temporaryDirectory();
  watchers = [];
  names = new Set();
});

afterEach(async () => {
  for (const watcher of watchers) watcher.close();
  await service?.stop();
});

/** Also what is there for a moment only. */
const watched = async (name: string): Promise<string> => {
  const path = join(directory, name);
  await mkdir(path, { mode: 0o700 });
  watchers.push(watch(path, (_change, file) => void names.add(file!)));
  return path;
};

test('whatever a service and its commands make in DATA_DIR is known as theirs by its name', async () => {
  const [data, restored] = [await watched('data'), await watched('restored')];
  service = await RunningService.start({ DATA_DIR: data }, { background: 'thread' });
  const receivables = receivablesOn(data);
  const api = await service.client();
  const large = Buffer.concat([smallPdf(), Buffer.alloc(300_000, ' ')]);
  expect((await api.assign(loanRequest(api.fund, 'OP-1'), large)).status).toBe(201);
  await api.untilStatus('OP-1', 'active');
  await receivables('administrator', 'approve', 'OP-NOBODY').catch(() => undefined);
  await receivables('projections', 'rebuild');
  await receivables('key', 'rotate-master');
  const backup = join(directory, 'backup');
  await receivables('backup', '--to', backup, '--with-key');
  await receivables('restore', '--from', backup, '--data-dir', restored);
  await service.service.stop();
  await writeMigrationMarker(data, { id: randomUUID(), state: 'moving', rows: ['documents'], at: 'now' });

  for (const path of [data, restored]) for (const name of await readdir(path)) names.add(name);
  expect([...names].filter((name) => !isOfService(name))).toEqual([]);
});
