import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { ApiClient } from '../support/api-client.ts';
import { fillEventLog } from '../support/event-log-at-size.ts';
import { FeedFollower, wholeFeed } from '../support/feed-follower.ts';
import { InsistentWriters, eventsOfWholeLife } from '../support/insistent-writers.ts';
import { killedCommand } from '../support/killed-command.ts';
import { makeServiceData } from '../support/service-data.ts';
import { ServiceProcess } from '../support/service-process.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const OPERATIONS = 600;

const directory = temporaryDirectory();
let service: ServiceProcess;

beforeAll(async () => {
  await makeServiceData(directory);
  fillEventLog(directory, OPERATIONS);
  service = await ServiceProcess.start(directory, { SANDBOX_STEP: '10ms' });
}, 300_000);

afterAll(() => service?.end('SIGKILL'));

/** The first cell that a query finds in a file of the data directory; undefined without a row, or before there is such a table. */
const cellIn = (file: string, text: string): string | number | undefined => {
  if (!existsSync(join(directory, file))) return undefined;
  const database = new DatabaseSync(join(directory, file), { readOnly: true });
  try {
    return Object.values(database.prepare(text).get() ?? {})[0] as string | number | undefined;
  } catch {
    return undefined;
  } finally {
    database.close();
  }
};

const UNFINISHED = `select number from read_model_generation where state = 'building'`;
const PLACE = `select position from projection_checkpoint where name = 'loan'`;

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
  const begun = () => {
    const number = cellIn('service.db', UNFINISHED);
    return number !== undefined && cellIn(`read-model-${number}.db`, PLACE) !== undefined;
  };
  for (let attempt = 0; attempt < 5; attempt++) {
    await killedCommand(directory, ['projections', 'rebuild'], begun);
    if (begun()) return;
    await service.receivables('projections', 'drop-old');
  }
  throw new Error('no rebuild was killed in the middle');
};

test('a rebuild, killed once, goes on under load: every read is right, and every row is the same', async () => {
  const api = await service.client();
  const failures: number[] = [];
  const reads: object[] = [];
  const writers = new InsistentWriters(api, {
    writers: 2,
    installments: 2,
    prefix: 'R',
    onTry: (_, response) => void (response && response.status >= 500 && failures.push(response.status)),
  });
  const follower = new FeedFollower(api);
  const stopReading = readAlong(api, writers, (read) => reads.push(read));
  await writers.untilAcknowledged(4);

  await killInTheMiddle();

  const [there] = lines(await service.receivables('projections', 'rebuild'));
  expect(there).toMatchObject({ outcome: 'switched', resumed: true, differences: 0 });
  await writers.untilAcknowledged(5);
  await writers.stop();
  await stopReading();
  await follower.stop();

  expect(failures).toEqual([]);
  expect(reads.length).toBeGreaterThan(0);
  expect(reads).toEqual(reads.map(() => ({ status: 200, loan: 'settled' })));
  for (const code of writers.finished) expect(follower.eventsOf(code)).toEqual(eventsOfWholeLife(2));
  expect(await wholeFeed(api)).toEqual(follower.ids);
  for (const code of writers.finished) expect((await api.readable(code)).body.status).toBe('settled');
}, 300_000);
