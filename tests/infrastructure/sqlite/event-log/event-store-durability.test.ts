import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from '@jest/globals';
import { catchUp } from '../../../contracts/event-store-samples.ts';
import { cleanUp, openFile, openStore } from './store-fixture.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

const PROGRAM = fileURLToPath(new URL('./append-until-killed.ts', import.meta.url));
const STREAMS = 6;
const KILLS = 6;

afterEach(cleanUp);

/** Runs the program, kills it within the given time after its first acknowledgement, and answers what it printed. */
const runAndKill = async (dataDir: string, withinMs: number): Promise<readonly string[]> => {
  const options = ['--disable-warning=ExperimentalWarning', PROGRAM, dataDir, String(STREAMS)];
  const child = spawn(process.execPath, options, { stdio: ['ignore', 'pipe', 'inherit'] });
  const acknowledged: string[] = [];
  const lines = createInterface({ input: child.stdout });
  const first = Promise.withResolvers<void>();
  lines.on('line', (line) => {
    acknowledged.push(line);
    first.resolve();
  });
  const closed = Promise.all([once(lines, 'close'), once(child, 'exit')]);
  await Promise.race([first.promise, closed]);
  await delay(Math.random() * withinMs);
  child.kill('SIGKILL');
  await closed;
  return acknowledged;
};

test('killed at any moment, the store holds every acknowledged event, and whole streams only', async () => {
  const dataDir = temporaryDirectory();
  const acknowledged: string[] = [];
  for (let kill = 1; kill <= KILLS; kill++) {
    const lines = await runAndKill(dataDir, 120);
    expect(lines.length).toBeGreaterThan(0);
    acknowledged.push(...lines);

    const store = await openStore(dataDir);
    const log = await catchUp(store, 'loan-', 10_000);
    const stored = new Set(log.map(({ stream, revision, id }) => `${stream} ${revision} ${id}`));
    expect(acknowledged.filter((line) => !stored.has(line))).toEqual([]);
    expect(new Set(log.map(({ id }) => id)).size).toBe(log.length);
    for (let n = 0; n < STREAMS; n++) {
      const stream = `loan-a.${n}`;
      const revisions = log.filter((event) => event.stream === stream).map((event) => event.revision);
      expect(revisions).toEqual(revisions.map((_, index) => BigInt(index)));
      expect((await store.read(stream)).events.map((event) => event.revision)).toEqual(revisions);
    }
    await store.close();
  }
  const check = openFile(dataDir).prepare('PRAGMA integrity_check').get();
  expect(check?.['integrity_check']).toBe('ok');
});
