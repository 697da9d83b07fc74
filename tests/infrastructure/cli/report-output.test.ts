import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile, readdir, stat, symlink, writeFile } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { beforeEach, expect, jest, test } from '@jest/globals';
import { writeWhole } from '../../../infrastructure/cli/report-output.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

let directory: string;
let output = '';

beforeEach(async () => {
  directory = temporaryDirectory();
  output = join(directory, 'report.csv');
});

async function* slow(text: string, times: number): AsyncGenerator<string> {
  for (let i = 0; i < times; i += 1) {
    yield text;
    await setImmediate();
  }
}

const written = async (): Promise<string> => readFile(output, 'utf8');

test('two commands that write the same file at once leave that of one of them, whole', async () => {
  await Promise.all([writeWhole(output, slow('a', 20)), writeWhole(output, slow('bb', 60))]);
  expect(['a'.repeat(20), 'bb'.repeat(60)]).toContain(await written());
  expect(await readdir(directory)).toEqual(['report.csv']);
});

test('a disk that takes only a part at a time gets all of it', async () => {
  const some = await open(join(directory, 'some'), 'w');
  const prototype = Object.getPrototypeOf(some) as FileHandle;
  const write = jest.spyOn(prototype, 'write');
  write.mockImplementation(function (this: FileHandle, text: unknown) {
    return this.writeFile(String(text).slice(0, 1)).then(() => ({ bytesWritten: 1, buffer: text })) as never;
  });
  try {
    await writeWhole(output, slow('abc', 2));
  } finally {
    write.mockRestore();
    await some.close();
  }
  expect(await written()).toBe('abcabc');
});

test('a link where the unfinished file was does not lead it elsewhere', async () => {
  const other = join(directory, 'other');
  await writeFile(other, 'of somebody');
  await symlink(other, `${output}.unfinished`);
  await writeWhole(output, slow('a', 1));
  expect([await written(), await readFile(other, 'utf8')]).toEqual(['a', 'of somebody']);
});

test('is readable by its owner alone where that is asked for, also over one that was not', async () => {
  await writeFile(output, 'before', { mode: 0o644 });
  await writeWhole(output, slow('a', 1), 0o600);
  expect([await written(), (await stat(output)).mode & 0o777]).toEqual(['a', 0o600]);
});

test('an interruption leaves nothing of it', async () => {
  const module = new URL('../../../infrastructure/cli/report-output.ts', import.meta.url).href;
  const script = `const { writeWhole } = await import(${JSON.stringify(module)});
    async function* endless() { for (;;) { yield 'a'; await new Promise((resolve) => setTimeout(resolve, 1)); } }
    await writeWhole(${JSON.stringify(output)}, endless());`;
  const { NODE_OPTIONS: _, ...env } = process.env;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { env, stdio: 'ignore' });
  while ((await readdir(directory)).length === 0) await setImmediate();
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  expect(await exited).toEqual([null, 'SIGTERM']);
  expect(await readdir(directory)).toEqual([]);
});
