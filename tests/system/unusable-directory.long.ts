import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { pause } from '../../infrastructure/support/time.ts';
import { ServiceProcess, freePort } from '../support/service-process.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const SERVICE = ['--disable-warning=ExperimentalWarning', 'infrastructure/composition/main.ts'];
const COMMAND = ['--disable-warning=ExperimentalWarning', 'infrastructure/composition/receivables.ts'];
/** Modes do not bind root, so the service is somebody else then; who runs the tests as himself is somebody already. */
const NOBODY = 65_534;
const IS_ROOT = process.getuid?.() === 0;

let directory: string;
let dataDir: string;
let mounted: boolean;

beforeEach(() => {
  directory = temporaryDirectory();
  chmodSync(directory, 0o755);
  dataDir = join(directory, 'data');
  mounted = false;
});
afterEach(() => {
  if (mounted) execFileSync('umount', [dataDir]);
  execFileSync('chmod', ['-R', 'u+rwX', directory]);
});

interface Refusal {
  readonly code: number | null;
  readonly output: string;
}

const start = async (
  how: { readonly nobody?: boolean; readonly files?: number; readonly program?: readonly string[] } = {},
): Promise<Refusal> => {
  const { NODE_OPTIONS: _, ...environment } = process.env;
  const service = ['exec', process.execPath, ...(how.program ?? SERVICE)].join(' ');
  const command = how.files === undefined ? service : `ulimit -n ${how.files}; ${service}`;
  const child = spawn('/bin/sh', ['-c', command], {
    cwd: root,
    env: { ...environment, DATA_DIR: dataDir, PORT: String(await freePort()), METRICS_PORT: 'off' },
    ...(how.nobody && IS_ROOT && { uid: NOBODY, gid: NOBODY }),
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => void (output += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, output };
};

/** A whole data directory of whoever the service is. */
const whole = async (): Promise<void> => {
  const service = await ServiceProcess.start(dataDir);
  await service.end('SIGTERM');
  if (IS_ROOT) execFileSync('chown', ['-R', `${NOBODY}:${NOBODY}`, dataDir]);
};

const expectOneLine = ({ code, output }: Refusal, path: string, what: RegExp): void => {
  const lines = output.trim().split('\n');
  expect([code, lines]).toEqual([1, [expect.stringContaining(path)]]);
  expect(lines[0]).toMatch(what);
};

describe('a data directory that cannot be used ends the start with 1, and one line with the path and what to do', () => {
  test('of another user', async () => {
    mkdirSync(dataDir, { mode: 0o700 });
    if (!IS_ROOT) chmodSync(dataDir, 0o500);
    expectOneLine(await start({ nobody: true }), dataDir, /^DATA_DIR cannot be used: .*chown/);
  });

  test('of another user, to a command as well', async () => {
    const service = await ServiceProcess.start(dataDir);
    await service.end('SIGTERM');
    if (!IS_ROOT) chmodSync(dataDir, 0o600);
    for (const command of ['status', `backup --to ${join(directory, 'backup')}`])
      expectOneLine(
        await start({ nobody: true, program: [...COMMAND, command] }),
        dataDir,
        /may not be used by the user of this process \(uid \d+\): run it as the owner/,
      );
  });

  test('below a directory of another user', async () => {
    if (!IS_ROOT) chmodSync(directory, 0o500);
    expectOneLine(
      await start({ nobody: true }),
      dataDir,
      /cannot be made by the user of this process .* name another/,
    );
  });

  test('that is a link to what is not there', async () => {
    symlinkSync(join(directory, 'gone'), dataDir);
    expectOneLine(await start(), dataDir, /leads nowhere: mount what its link names/);
    dataDir = join(dataDir, 'below');
    expectOneLine(await start(), dataDir, /leads nowhere: mount what its link names/);
  });

  test('where the system lets nobody make one', async () => {
    dataDir = '/proc/receivables';
    expectOneLine(await start(), dataDir, /leads nowhere: .* name another/);
  });

  test('that cannot be entered', async () => {
    await whole();
    chmodSync(dataDir, 0o600);
    expectOneLine(await start({ nobody: true }), dataDir, /chmod/);
  });

  test.each(['events.db', 'service.db', 'master.key', 'service-lock.db'])(
    'with %s of another user',
    async (file) => {
      await whole();
      if (IS_ROOT) chownSync(join(dataDir, file), 0, 0);
      else chmodSync(join(dataDir, file), 0o000);
      expectOneLine(await start({ nobody: true }), join(dataDir, file), /chown/);
    },
  );

  test('that is a file, or holds a directory where a file belongs', async () => {
    writeFileSync(dataDir, '', { mode: 0o600 });
    expectOneLine(await start(), dataDir, /is no directory/);
    rmSync(dataDir);
    mkdirSync(join(dataDir, 'events.db'), { recursive: true, mode: 0o700 });
    expectOneLine(await start(), join(dataDir, 'events.db'), /is a directory: move it away/);
  });

  test('on a file system that is read-only', async () => {
    await whole();
    execFileSync('mount', ['--bind', dataDir, dataDir]);
    mounted = true;
    execFileSync('mount', ['-o', 'remount,bind,ro', dataDir]);
    expectOneLine(await start(), dataDir, /read-only: mount it writable/);
  });

  test('on a disk that is full', async () => {
    mkdirSync(dataDir, { mode: 0o700 });
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k,mode=700', 'tmpfs', dataDir]);
    mounted = true;
    expectOneLine(await start(), dataDir, /full; make room/);
  });

  test('whose log another process has locked', async () => {
    await whole();
    const database = new DatabaseSync(join(dataDir, 'events.db'));
    database.exec('pragma locking_mode = exclusive; begin exclusive');
    expectOneLine(await start(), join(dataDir, 'events.db'), /another process has it locked/);
    database.close();
  });

  test.each(['events.db', 'service.db'])('whose %s is no database', async (file) => {
    await whole();
    writeFileSync(join(dataDir, file), 'x'.repeat(9_000));
    expectOneLine(
      await start(),
      join(dataDir, file),
      /damaged \(file is not a database\).*receivables restore/,
    );
  });
});

test.each([32, 64, 128])('a process that may open %i files says what it needs and ends', async (files) => {
  mkdirSync(dataDir, { mode: 0o700 });
  const line = `this process may open ${files} files, and the service needs 256 or more: raise the limit with ulimit -n, LimitNOFILE or --ulimit nofile\n`;
  expect(await start({ files })).toEqual({ code: 1, output: line });
});

test('one that is moved away ends the service, which says so and goes on where it stood once it is back', async () => {
  const service = await ServiceProcess.start(dataDir);
  const client = await service.createClient('11111111-1111-4111-8111-111111111111');
  renameSync(dataDir, `${dataDir}-away`);
  await service.printed('was removed or moved away while the service used it');
  for (const deadline = Date.now() + 30_000; service.exitCode === null && Date.now() < deadline;)
    await pause(25);
  expect(service.exitCode).toBe(1);
  rmSync(dataDir, { recursive: true, force: true });
  renameSync(`${dataDir}-away`, dataDir);
  await service.start();
  expect(await service.receivables('client', 'list', '-o', 'json')).toContain(client.client_id);
  await service.end('SIGTERM');
});
