import { spawnSync, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { mkdir, readdir, stat, symlink, writeFile, open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test, jest } from '@jest/globals';
import { commandLine } from '../../support/command-line.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import type { FileHandle } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import { writeWhole } from '../../../infrastructure/cli/files.ts';

let directory: string;
/** Nothing behind these commands is there: what a path lacks is told before it is asked for. */
const receivables = commandLine(() => ({}), {
  open: async () => {
    throw new Error('opened');
  },
});
const TO_COMPARE = [
  '--fund',
  '3f0c1e52-8a44-4b8e-9d64-0b7f6f1c2a10',
  '--from',
  '2026-06-01',
  '--to',
  '2026-06-30',
];
const READING = [
  ['--file', ['administrator', 'apply']],
  ['--anchor', ['audit', 'verify']],
  ['--statement', ['reconcile', ...TO_COMPARE]],
] as const;
const WRITING = [
  ['--write-anchor', ['audit', 'verify']],
  ['--resume', ['audit', 'verify']],
  ['--output', ['audit', 'anchor']],
  ['--output', ['audit', 'export']],
  ['--output', ['loan', 'list']],
  ['--dead-letter', ['administrator', 'apply', '--file', '-']],
] as const;

beforeEach(async () => {
  directory = temporaryDirectory();
  await mkdir(join(directory, 'folder'));
  await writeFile(join(directory, 'file'), 'text');
});

const given = (option: string, command: readonly string[], path: string) =>
  receivables(...command, option, path === '' ? '' : join(directory, path));

describe.each(READING)('%s of %j', (option, command) => {
  test.each([
    ['folder', 'cannot be read: it is a directory, name a file in it'],
    ['none', 'cannot be read: there is no such file'],
    ['file/x', 'cannot be read: what should be its folder is a file'],
    ['', 'needs the name of a file'],
  ])('%j is wrong use', async (path, why) => {
    const { code, out, err } = await given(option, command, path);
    expect([code, out, err]).toEqual([2, '', expect.stringContaining(why)]);
    expect(err).toMatch(new RegExp(`^error: ${option} `));
  });
});

describe.each(WRITING)('%s of %j', (option, command) => {
  test.each([
    ['folder', 'cannot be written: it is there and'],
    ['folder/', 'cannot be written: it is there and'],
    ['none/x', 'cannot be written: there is no such folder'],
    ['none/', 'cannot be written: there is no such folder'],
    ['file/x', 'cannot be written: what should be its folder is a file'],
    ['', 'needs the name of a file'],
  ])('%j is wrong use', async (path, why) => {
    const { code, out, err } = await given(option, command, path);
    expect([code, out, err]).toEqual([2, '', expect.stringContaining(why)]);
    expect(err).toMatch(new RegExp(`^error: ${option} `));
  });

  test('what can be written is neither made nor touched yet', async () => {
    for (const path of ['file', 'new'])
      expect((await given(option, command, path)).err).not.toContain('cannot be written');
    expect(await readdir(directory)).toEqual(['file', 'folder']);
    expect((await stat(join(directory, 'file'))).size).toBe(4);
  });
});

test.each([
  ['administrator apply --file FILE --dead-letter LINK', /--file and --dead-letter name the same file/],
  ['audit verify --resume NEW --output NEW', /--output and --resume name/],
  ['audit verify --write-anchor FILE --output LINK', /--output and --write-anchor name/],
  ['audit verify --anchor FILE --output FILE', /--output and --anchor name/],
  [`reconcile ${TO_COMPARE.join(' ')} --statement FILE --output FILE`, /--statement and --output name/],
  ['audit verify --anchor FILE --write-anchor FILE', /^error: opened/],
])('%s', async (line, message) => {
  await symlink(join(directory, 'file'), join(directory, 'link'));
  const args = line
    .split(' ')
    .map((word) => (/^[A-Z]+$/.test(word) ? join(directory, word.toLowerCase()) : word));
  expect((await receivables(...args)).err).toMatch(message);
});

test.each([
  ['--output', ['loan', 'list']],
  // SQLite would make a journal beside a device.
  ['--resume', ['audit', 'verify']],
])('what is there and no file stays what it is: %s', async (option, command) => {
  const server = createServer().listen(join(directory, 'socket'));
  await once(server, 'listening');
  const { code, err } = await given(option, command, 'socket');
  expect([code, err]).toEqual([2, expect.stringContaining('it is there and no file')]);
  expect((await stat(join(directory, 'socket'))).isSocket()).toBe(true);
  server.close();
});

test('what is added to may be a device', async () => {
  const { err } = await receivables('administrator', 'apply', '--file', '-', '--dead-letter', '/dev/null');
  expect(err).toBe('error: opened\n');
});

test.each([
  ['backup', '--to', []],
  ['restore', '--from', ['--data-dir', 'data']],
  ['restore', '--data-dir', ['--from', 'backup']],
])('%s %s names a directory', async (command, option, rest) => {
  await symlink('nowhere', join(directory, 'dangling'));
  for (const [path, why] of [
    ['file', 'cannot be used: it is no directory'],
    ['file/x', 'cannot be used: what should be its folder is a file'],
    ['dangling', 'cannot be used: it is a link that leads nowhere'],
    ['', 'needs the name of a directory'],
  ] as const) {
    const { code, err } = await given(option, [command, ...rest], path);
    expect([code, err]).toEqual([2, expect.stringContaining(why)]);
  }
});

test('so is a directory as the input of a command', () => {
  const input = openSync(directory, 'r');
  const command = ['infrastructure/composition/receivables.ts', 'administrator', 'apply', '--file', '-'];
  const { status, stderr } = spawnSync(process.execPath, command, { stdio: [input, 'ignore', 'pipe'] });
  closeSync(input);
  expect([status, String(stderr)]).toEqual([
    2,
    expect.stringContaining('--file - cannot be read: it is a dir'),
  ]);
});

describe('a report', () => {
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
      return this.writeFile(String(text).slice(0, 1)).then(() => ({
        bytesWritten: 1,
        buffer: text,
      })) as never;
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
    const module = new URL('../../../infrastructure/cli/files.ts', import.meta.url).href;
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
});
