import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import { receivablesOn } from '../support/command-line-beside.ts';
import { ServiceProcess, freePort } from '../support/service-process.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const MOMENTS = 40;

const directory = temporaryDirectory();
const filesIn = (dataDir: string): readonly string[] => {
  try {
    return readdirSync(dataDir);
  } catch {
    return [];
  }
};

const untilFirstFile = async (dataDir: string, goesOn: () => boolean): Promise<void> => {
  while (goesOn() && filesIn(dataDir).length === 0) await delay(1);
};

/** How long a first start takes here, from its first file to being ready. */
const measured = async (): Promise<number> => {
  const dataDir = join(directory, 'measured');
  const starting = ServiceProcess.start(dataDir);
  await untilFirstFile(dataDir, () => true);
  const begun = performance.now();
  const service = await starting;
  const took = performance.now() - begun;
  await service.end('SIGKILL');
  return took;
};

/** Killed so long after its first file. What it had made by then. */
const killedAfter = async (ms: number, dataDir: string): Promise<readonly string[]> => {
  const { NODE_OPTIONS: _, ...environment } = process.env;
  const args = ['--disable-warning=ExperimentalWarning', 'infrastructure/composition/main.ts'];
  const child = spawn(process.execPath, args, {
    cwd: root,
    env: { ...environment, DATA_DIR: dataDir, PORT: String(await freePort()), METRICS_PORT: 'off' },
    stdio: 'ignore',
  });
  const exited = once(child, 'exit');
  await untilFirstFile(dataDir, () => child.exitCode === null);
  if (ms > 0) await delay(ms);
  child.kill('SIGKILL');
  await exited;
  return filesIn(dataDir);
};

test('wherever a first start is killed, the next one finds a directory that it can use', async () => {
  const whole = await measured();
  const seen = new Set<string>();
  for (let moment = 0; moment < MOMENTS; moment++) {
    const dataDir = join(directory, String(moment));
    const made = await killedAfter((whole * moment) / MOMENTS, dataDir);
    seen.add(made.filter((name) => /\.(db|key)$/.test(name)).join());
    const service = await ServiceProcess.start(dataDir);
    const clients = (await receivablesOn(dataDir)('client', 'list', '-o', 'json')).trim().split('\n');
    expect(clients).toHaveLength(1);
    await service.end('SIGKILL');
  }
  // Else nothing was interrupted.
  expect(seen.size).toBeGreaterThan(2);
});
