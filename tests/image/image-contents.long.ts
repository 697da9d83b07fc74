import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { freePort } from '../support/service-process.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../', import.meta.url));

const image = temporaryDirectory();
let dockerfile: string;

/** No container engine is needed to see what is inside: the same files, the same dependencies, the same commands. */
beforeAll(async () => {
  dockerfile = await readFile(join(root, 'Dockerfile'), 'utf8');
  for (const [, sources = ''] of dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)) {
    for (const source of sources.split(' '))
      await cp(join(root, source), join(image, source), { recursive: true });
  }
  const [, install = ''] = /^RUN npm (ci .*)$/m.exec(dockerfile) ?? [];
  await run('npm', install.split(' '), { cwd: image });
}, 300_000);

const commandOf = (instruction: string): readonly string[] => {
  const [, json = '[]'] = new RegExp(`${instruction} (\\[.*\\])$`, 'm').exec(dockerfile) ?? [];
  return JSON.parse(json) as readonly string[];
};

describe('the image', () => {
  test('starts with production dependencies alone, reports its health, and stops in order', async () => {
    const environment = {
      PATH: process.env['PATH'],
      HOST: '127.0.0.1',
      PORT: String(await freePort()),
      METRICS_PORT: 'off',
      DATA_DIR: join(image, 'data'),
    };
    const [, ...command] = commandOf('^CMD');
    const [, ...health] = commandOf('^HEALTHCHECK .*CMD');
    const probe = () =>
      run(process.execPath, [...health], { env: environment }).then(
        () => true,
        () => false,
      );
    expect(await probe()).toBe(false);
    const service = spawn(process.execPath, [...command], { cwd: image, env: environment, stdio: 'ignore' });
    try {
      const deadline = Date.now() + 120_000;
      while (!(await probe())) {
        if (service.exitCode !== null || Date.now() > deadline) throw new Error('it did not become healthy');
      }
      const asked = () => fetch(`http://127.0.0.1:${environment.PORT}/docs/guides/lifecycle`);
      let guide = await asked();
      while (guide.status === 503 && Date.now() < deadline) guide = await asked();
      expect([guide.status, await guide.text()]).toEqual([200, expect.stringContaining('id="overdue"')]);
    } finally {
      service.kill('SIGTERM');
      if (service.exitCode === null) await once(service, 'exit');
    }
    expect(service.exitCode).toBe(0);
  }, 300_000);
});
