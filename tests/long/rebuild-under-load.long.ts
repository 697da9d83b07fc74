import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ApiClient } from '../support/api-client.ts';
import { fillEventLog } from '../support/event-log-at-size.ts';
import { InsistentWriters } from '../support/insistent-writers.ts';
import { killedCommand } from '../support/killed-command.ts';
import { ServiceProcess } from '../support/service-process.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const OPERATIONS = 600;

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let service: ServiceProcess;

beforeAll(async () => {
  directory = await temporaryDirectory();
  fillEventLog(directory.path, OPERATIONS);
  service = await ServiceProcess.start(directory.path, { SANDBOX_STEP: '10ms' });
}, 40_000);

afterAll(async () => {
  await service?.end('SIGKILL');
  await directory?.remove();
});

interface CopyRow {
  readonly position: string;
  readonly state: string;
}

const copyIn = (dataDir: string): CopyRow | undefined => {
  const database = new DatabaseSync(join(dataDir, 'read-model.db'), { readOnly: true });
  try {
    const query = database.prepare(`select position, state from projection_copy where name = 'loan'`);
    return query.get() as unknown as CopyRow | undefined;
  } finally {
    database.close();
  }
};

const lines = (output: string) =>
  output
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

/** Reads operations that are known to be settled, one after the other, until it is told to stop. */
const readAlong = (api: ApiClient, writers: InsistentWriters, onRead: (answer: object) => void) => {
  let done = false;
  const reading = (async () => {
    for (let n = 0; !done; n++) {
      const code = writers.finished.at(-1 - (n % 3));
      if (code === undefined) await new Promise((resolve) => setTimeout(resolve, 10));
      else {
        const { status, body } = await api.loan(code);
        onRead({ status, loan: body.status });
      }
    }
  })();
  return async () => {
    done = true;
    await reading;
  };
};

/** Whoever watches may be slower than the whole rebuild; then there is another one. */
const killInTheMiddle = async (): Promise<void> => {
  const begun = () => (copyIn(directory.path)?.position ?? '') !== '';
  for (let attempt = 0; attempt < 5; attempt++) {
    await killedCommand(directory.path, ['projections', 'rebuild', 'loan'], begun);
    if (copyIn(directory.path)?.state === 'building') return;
    await service.receivables('projections', 'drop-old', 'loan');
  }
  throw new Error('no rebuild was killed in the middle');
};

test('a rebuild, killed once, goes on under load: every read is right, and every row is the same', async () => {
  const api = new ApiClient(service.baseUrl, await service.createClient(randomUUID()));
  const failures: number[] = [];
  const reads: object[] = [];
  const writers = new InsistentWriters(api, {
    writers: 2,
    installments: 2,
    prefix: 'R',
    onTry: (_, response) => void (response && response.status >= 500 && failures.push(response.status)),
  });
  const stopReading = readAlong(api, writers, (read) => reads.push(read));
  await writers.untilAcknowledged(4);

  await killInTheMiddle();

  const [there] = lines(await service.receivables('projections', 'rebuild', 'loan'));
  expect(there).toMatchObject({ outcome: 'switched', resumed: true, differences: 0 });
  await writers.untilAcknowledged(5);
  await writers.stop();
  await stopReading();

  expect(failures).toEqual([]);
  expect(reads.length).toBeGreaterThan(0);
  expect(reads).toEqual(reads.map(() => ({ status: 200, loan: 'settled' })));
  for (const code of writers.finished) expect((await api.loan(code)).body.status).toBe('settled');
}, 60_000);
