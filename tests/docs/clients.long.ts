import { execFile } from 'node:child_process';
import { symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { documentedCode, linesOf } from '../support/documented-receiver.ts';
import { DocumentedLife, LIVED } from '../support/documented-life.ts';

const PAGE = 'clients.md';
const MODULES = join(import.meta.dirname, '../../node_modules');
const OPTIONS = {
  ...{ target: 'esnext', module: 'nodenext', strict: true, noEmit: true },
  ...{ allowImportingTsExtensions: true, skipLibCheck: true, types: ['node'] },
};
const run = promisify(execFile);

let life: DocumentedLife;

beforeAll(async () => {
  life = await DocumentedLife.prepare(['client.ts', 'life.ts']);
  await symlink(MODULES, join(life.folder, 'node_modules'));
  const [, beginning = ''] = /(npm init .*)\n/.exec(documentedCode(PAGE, 'install.ts')) ?? [];
  await run('sh', ['-eu', '-c', beginning], { cwd: life.folder });
  const [, command = ''] = /npx openapi-typescript (.*)\n/.exec(documentedCode(PAGE, 'install.ts')) ?? [];
  const options = command.replace('"$BASE/openapi.json"', `${life.running.baseUrl}/openapi.json`).split(' ');
  await run(join(MODULES, '.bin/openapi-typescript'), options, { cwd: life.folder });
});
afterAll(() => life?.end());

test('the TypeScript of a reader is short and fits the types made from the served description', async () => {
  expect(linesOf(documentedCode(PAGE, 'client.ts'))).toBeLessThan(40);
  await writeFile(
    join(life.folder, 'tsconfig.json'),
    JSON.stringify({ compilerOptions: OPTIONS, files: ['client.ts', 'life.ts'] }),
  );
  const compiled = await run(process.execPath, [
    join(MODULES, 'typescript/bin/tsc'),
    '-p',
    life.folder,
  ]).catch((error: { stdout: string }) => error);
  expect(compiled.stdout).toBe('');
});

test('it lives through lost answers, unavailable routes and tokens that are too old, paying once, and can be repeated', async () => {
  for (const time of ['once', 'twice']) {
    const lived = await life.live('run.ts', dirname(process.execPath));
    expect({ time, ...lived }).toEqual({ time, ...LIVED, tokens: expect.any(Number) });
    expect(lived.tokens).toBeGreaterThan(1);
  }
});
