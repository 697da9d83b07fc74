import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmod, lstat, mkdir, readFile, readdir, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const BROWSER = join(import.meta.dirname, '..', '..', '..', 'infrastructure', 'cli', 'console-command.ts');
/** Reads the address, hands it over, and takes it away again when it is told to. */
const OPENER = `
  import { createInterface } from 'node:readline/promises';
  const { openBrowser } = await import(${JSON.stringify(BROWSER)});
  const until = new AbortController();
  const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
  await openBrowser((await lines.next()).value, until.signal);
  process.stdout.write('opened\\n');
  await lines.next();
  until.abort();
  process.exit();
`;
/** What a desktop opens files with: shows what every user of the machine can see of it, and what is in its file. */
const DESKTOP = `#!/bin/sh
[ "$1" = --help ] && exit 0
cat /proc/[0-9]*/cmdline > "$HOME/seen.txt" 2>/dev/null
stat -c '%a %U' "$(dirname "$1")" "$1" > "$HOME/modes.txt"
cp "$1" "$HOME/page.html"
printf '%s' "$1" > "$HOME/opened"
`;

let home: string;
beforeEach(async () => {
  home = temporaryDirectory();
  await mkdir(join(home, 'bin'));
  await writeFile(join(home, 'bin', 'exo-open'), DESKTOP);
  await chmod(join(home, 'bin', 'exo-open'), 0o755);
});
const children: ChildProcess[] = [];
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

const until = async (text: () => Promise<string>): Promise<string> => {
  for (const deadline = Date.now() + 60_000; ;) {
    const found = await text().catch(() => '');
    if (found !== '') return found;
    if (Date.now() > deadline) throw new Error('no browser was opened');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
};
const inHome = (name: string): Promise<string> => readFile(join(home, name), 'utf8');
const places = async (): Promise<readonly string[]> =>
  (await readdir(home)).filter((name) => name.startsWith('receivables-console-'));

/** Opens the address on a desktop of its own. @returns ends it in order */
const opened = (address: string, environment: NodeJS.ProcessEnv = {}) => {
  const child = spawn(process.execPath, ['--input-type=module', '-e', OPENER], {
    env: {
      ...{ HOME: home, TMPDIR: home, DISPLAY: ':99', XDG_CURRENT_DESKTOP: 'XFCE' },
      ...{ PATH: `${join(home, 'bin')}:${process.env['PATH'] ?? ''}` },
      ...environment,
    },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  children.push(child);
  child.stdin.write(`${address}\n`);
  return {
    child,
    said: once(child.stdout, 'data').then(String),
    end: async () => {
      child.stdin.end('used\n');
      await once(child, 'exit');
    },
  };
};

describe('the browser is handed the address', () => {
  test('in a file of its owner alone; no argument of any process holds the token', async () => {
    const token = randomBytes(32).toString('base64url');
    const address = `http://127.0.0.1:4200/enter?token=${token}`;
    const { end } = opened(address);
    const file = await until(() => inHome('opened'));
    const seen = await inHome('seen.txt');
    expect([seen.includes(file), seen.includes(token)]).toEqual([true, false]);
    const [directory, page] = (await inHome('modes.txt')).trim().split('\n');
    expect([directory?.split(' ')[0], page?.split(' ')[0]]).toEqual(['700', '600']);
    expect(file).toMatch(/\/receivables-console-\w{6}\/open\.html$/);
    expect(await inHome('page.html')).toContain(`content="0;url=${address}"`);
    expect(await places()).toHaveLength(1);
    await end();
    expect(await places()).toEqual([]);
  });

  test('in a new place each time: what stands there under a guessed name is left alone', async () => {
    await symlink('/nowhere', join(home, 'receivables-console-aaaaaa'));
    const { end } = opened('http://127.0.0.1:1/enter?token=x');
    await until(() => inHome('opened'));
    await end();
    expect(await places()).toEqual(['receivables-console-aaaaaa']);
  });

  test('and what a console that was killed had left is removed by the next one, once it is old', async () => {
    const [old, recent] = ['receivables-console-oldold', 'receivables-console-recent'];
    for (const name of [old, recent]) {
      await mkdir(join(home, name));
      await writeFile(join(home, name, 'open.html'), 'x');
    }
    await utimes(join(home, old), 0, 0);
    const { end } = opened('http://127.0.0.1:1/enter?token=x');
    await until(() => inHome('opened'));
    await end();
    expect(await places()).toEqual([recent]);
  });

  test('and no file is made where there is no display, or no place', async () => {
    const without = opened('http://127.0.0.1:1/enter?token=x', { DISPLAY: '' });
    expect(await without.said).toBe('opened\n');
    expect(await places()).toEqual([]);
    await without.end();
    const nowhere = { HOME: join(home, 'none'), TMPDIR: join(home, 'none') };
    const lost = opened('http://127.0.0.1:1/enter?token=x', nowhere);
    expect(await lost.said).toBe('opened\n');
    await lost.end();
    await expect(lstat(join(home, 'opened'))).rejects.toThrow('ENOENT');
  });
});
