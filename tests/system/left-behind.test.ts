import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { leftRunning } from '../support/own-temporary-directory.ts';
import { until } from '../support/within.ts';

const STAYS = `process.on('SIGTERM', () => undefined); setInterval(() => undefined, 1_000); console.log('there')`;
const PROGRAM = `
import { spawn } from 'node:child_process';
import { temporaryDirectory } from ${JSON.stringify(import.meta.resolve('../support/temporary-directory.ts'))};
const directory = temporaryDirectory();
const { pid, stdout } = spawn(process.execPath, ['-e', ${JSON.stringify(STAYS)}]);
stdout.once('data', () => console.log(JSON.stringify({ directory, pid })));
setInterval(() => undefined, 1_000);
`;

const runs = (pid: number): boolean => existsSync(`/proc/${pid}/cwd`);

test('a run that is killed leaves no directory behind, and no process that it has started', async () => {
  const { TESTS_TMPDIR: _, ...env } = process.env;
  const child = spawn(process.execPath, ['--input-type=module', '-e', PROGRAM], { env });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  const { directory, pid } = JSON.parse(line.toString()) as { directory: string; pid: number };
  expect([existsSync(directory), runs(pid)]).toEqual([true, true]);
  child.kill('SIGKILL');
  await until(() => !existsSync(directory) && !runs(pid), 'the directory and the process are gone');
});

test('a process that a file of tests leaves running is named and ended', async () => {
  const place = { ...process.env, TMPDIR: `${process.env['TMPDIR']}/left` };
  const child = spawn(process.execPath, ['-e', STAYS], { env: place });
  await once(child.stdout, 'data');
  const exited = once(child, 'exit');
  expect(await leftRunning(place.TMPDIR)).toEqual([expect.stringContaining('SIGTERM')]);
  expect(await exited).toEqual([null, 'SIGKILL']);
});
