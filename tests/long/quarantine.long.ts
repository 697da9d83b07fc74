import { randomUUID } from 'node:crypto';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { loanStream } from '../../application/command-handling/operation.ts';
import type { JsonText } from '../../application/ports/event-store.ts';
import { SqliteEventStore } from '../../infrastructure/sqlite/event-log/sqlite-event-store.ts';
import { sampleMetadata } from '../contracts/event-store-samples.ts';
import { ApiClient, loanRequest } from '../support/api-client.ts';
import { RecordingLogger } from '../support/recording-logger.ts';
import { ServiceProcess } from '../support/service-process.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { within } from '../support/within.ts';

let service: ServiceProcess;
let api: ApiClient;
let application: string;

beforeEach(async () => {
  service = await ServiceProcess.start(temporaryDirectory(), { SANDBOX_STEP: '10ms' });
  const credentials = await service.createClient(randomUUID());
  application = credentials.application_id;
  api = new ApiClient(service.baseUrl, credentials);
});
afterEach(() => service?.end('SIGTERM'));

const active = async (code: string): Promise<void> => {
  expect((await api.assign(loanRequest(api.fund, code, 2))).status).toBe(201);
  await api.untilStatus(code, 'active');
};

/** As a process of a later release would have done. */
const storeUnknownEvent = async (stream: string): Promise<void> => {
  const store = await SqliteEventStore.open(service.dataDir, { logger: new RecordingLogger() });
  try {
    const id = randomUUID();
    const metadata = sampleMetadata({ applicationId: stream.slice('loan-'.length).split('.')[0]! });
    const event = { id, type: 'loan.something_new.v1', data: '{}' as JsonText, metadata };
    await store.append(stream, await store.head(stream), [event]);
  } finally {
    await store.close();
  }
};

const removeReadModels = async (): Promise<void> => {
  const files = (await readdir(service.dataDir)).filter((name) => name.startsWith('read-model'));
  await Promise.all(files.map((name) => rm(join(service.dataDir, name))));
};

const command = async (
  ...args: readonly string[]
): Promise<{ readonly code: number; readonly out: string }> => {
  try {
    return { code: 0, out: await service.receivables(...args) };
  } catch (error) {
    const { code, stdout } = error as { code: number; stdout: string };
    return { code, out: stdout };
  }
};

test.each([
  ['while it is followed', async () => undefined],
  ['while a generation of the read models is built at the start', removeReadModels],
])(
  'an event of an unknown type keeps its operation waiting and no other, %s',
  async (_, before) => {
    await active('BAD');
    await active('GOOD');
    expect(await service.end('SIGTERM')).toBe(0);
    await storeUnknownEvent(loanStream(application, 'BAD'));
    await before();
    await service.start();

    expect((await api.settle('GOOD', '001', 950)).status).toBe(200);
    expect((await api.readable('GOOD')).body.balances.received_value).toBe(950);
    const refused = await api.loan('BAD');
    expect([refused.status, refused.body.error_code]).toEqual([503, 'service_unavailable']);

    await service.printed('unpublished');
    // Each follower meets it in its own time.
    let entries: readonly Record<string, unknown>[] = [];
    await within('both wait', 60_000, async () => {
      const listed = await command('quarantine', 'list', '-o', 'json');
      entries = listed.out
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Record<string, unknown>);
      return entries.length >= 2;
    });
    expect(entries.map(({ waits_for }) => waits_for).sort()).toEqual(['loan', 'publishing']);
    for (const entry of entries)
      expect(entry).toMatchObject({
        ...{ application_id: application, originator_proposal_code: 'BAD' },
        event_type: 'loan.something_new.v1',
      });
    for (const which of ['BAD', '--all'])
      expect((await command('quarantine', 'release', which)).code).toBe(1);
    expect((await command('quarantine', 'release', 'GOOD')).code).toBe(3);
  },
  300_000,
);
