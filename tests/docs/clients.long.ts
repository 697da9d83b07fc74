import { execFile } from 'node:child_process';
import { symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { documentedCode, linesOf } from '../support/documented-code.ts';
import { live, RECEIVED, STATUSES } from '../support/documented-life.ts';
import { RunningService } from '../support/running-service.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const PAGE = 'clients.md';
const MODULES = join(import.meta.dirname, '../../node_modules');
const OPTIONS = {
  ...{ target: 'esnext', module: 'nodenext', strict: true, noEmit: true },
  ...{ allowImportingTsExtensions: true, skipLibCheck: true, types: ['node'] },
};
const run = promisify(execFile);

let running: RunningService;
let folder: Awaited<ReturnType<typeof temporaryDirectory>>;

beforeAll(async () => {
  running = await RunningService.start();
  folder = await temporaryDirectory();
  await symlink(MODULES, join(folder.path, 'node_modules'));
  await writeFile(join(folder.path, 'package.json'), '{"type":"module"}');
  for (const name of ['client.ts', 'life.ts']) {
    await writeFile(join(folder.path, name), documentedCode(PAGE, name));
  }
  const [, command = ''] = /npx openapi-typescript (.*)\n/.exec(documentedCode(PAGE, 'install.ts')) ?? [];
  const options = command.replace('"$BASE/openapi.json"', `${running.baseUrl}/openapi.json`).split(' ');
  await run(join(MODULES, '.bin/openapi-typescript'), options, { cwd: folder.path });
});
afterAll(async () => {
  await running.stop();
  await folder.remove();
});

test('the TypeScript of a reader is short and fits the types made from the served description', async () => {
  expect(linesOf(documentedCode(PAGE, 'client.ts'))).toBeLessThan(40);
  await writeFile(
    join(folder.path, 'tsconfig.json'),
    JSON.stringify({ compilerOptions: OPTIONS, files: ['client.ts', 'life.ts'] }),
  );
  const compiled = await run(process.execPath, [
    join(MODULES, 'typescript/bin/tsc'),
    '-p',
    folder.path,
  ]).catch((error: { stdout: string }) => error);
  expect(compiled.stdout).toBe('');
});

test('it lives through lost answers, unavailable routes and tokens that are too old, paying once', async () => {
  const lived = await live(running, [process.execPath, 'life.ts'], folder.path, 'TS-1');
  expect([lived.output, lived.received]).toEqual([STATUSES, RECEIVED]);
  expect(lived.tokens).toBeGreaterThan(1);
});
