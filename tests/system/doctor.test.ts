import { randomUUID } from 'node:crypto';
import { copyFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { examine } from '../../infrastructure/composition/maintenance/doctor.ts';
import type { ApiClient } from '../support/api-client.ts';
import { RecordingLogger } from '../support/recording-logger.ts';
import { RunningService } from '../support/running-service.ts';
import { freePort } from '../support/service-process.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { within } from '../support/within.ts';

let running: RunningService;
let api: ApiClient;
let dataDir: string;
beforeAll(async () => {
  running = await RunningService.start({ WEBHOOK_ALLOW_PRIVATE_NETWORK: 'true' });
  api = await running.client(randomUUID());
  ({ dataDir } = running.service.parts.configuration);
});
afterAll(() => running.stop());

const findings = () => examine({ DATA_DIR: dataDir }, () => new RecordingLogger());
const unlikeOk = async () => (await findings()).filter(({ state }) => state !== 'ok');

test('deliveries that wait at a dead endpoint and a clock that was moved are warnings that name them', async () => {
  const url = `https://127.0.0.1:${await freePort()}/nobody`;
  const { body: webhook } = await api.call('POST', '/webhook', { url, events: ['*'] });
  const id = webhook.webhook_id as string;
  await within(
    'a failed attempt',
    10_000,
    async () => (await api.call('GET', `/webhook/${id}`)).body.failing_since !== null,
  );
  expect(await unlikeOk()).toEqual([
    {
      check: 'deliveries',
      state: 'warning',
      detail: expect.stringMatching(
        `^1 wait for webhook ${id} \\(${url}\\), .* no attempt has succeeded since`,
      ),
    },
  ]);
  await api.call('POST', `/webhook/${id}/pause`);
  expect((await unlikeOk())[0]!.detail).toContain('it is paused');
  await api.call('DELETE', `/webhook/${id}`);
  expect(await unlikeOk()).toEqual([]);

  expect((await api.call('POST', '/sandbox/clock', { advance: '270d' })).status).toBe(200);
  const detail = expect.stringContaining('270 days ahead');
  expect(await unlikeOk()).toEqual([{ check: 'sandbox_clock', state: 'warning', detail }]);
});

test('a service that does not run is one failed check, and nothing that follows from it is another', async () => {
  const stopped = await temporaryDirectory();
  try {
    for (const file of await readdir(dataDir))
      if (/\.db(-wal)?$|^master\.key$/.test(file))
        await copyFile(join(dataDir, file), join(stopped.path, file));
    const found = await examine({ DATA_DIR: stopped.path }, () => new RecordingLogger());
    expect(found.filter(({ state }) => state === 'failed')).toEqual([
      { check: 'service', state: 'failed', detail: `no service runs on ${stopped.path}: start it` },
    ]);
    expect(found.map(({ check }) => check)).not.toContain('deliveries');
  } finally {
    await stopped.remove();
  }
});
