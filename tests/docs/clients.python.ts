import { execFile } from 'node:child_process';
import { symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { documentedCode, linesOf } from '../support/documented-receiver.ts';
import { DocumentedLife, LIVED } from '../support/documented-life.ts';

const PAGE = 'clients.md';
/** An interpreter that has what the page installs; see .ci/run. */
const python = process.env['PYTHON'] ?? 'python3';

let life: DocumentedLife;

beforeAll(async () => {
  life = await DocumentedLife.prepare(['client.py', 'life.py', 'client.ts', 'life.ts']);
  await symlink(join(import.meta.dirname, '../../node_modules'), join(life.folder, 'node_modules'));
  await writeFile(join(life.folder, 'package.json'), '{"type":"module"}');
  const [, command = ''] =
    /openapi-python-client (generate .*)\n/.exec(documentedCode(PAGE, 'install.py')) ?? [];
  const options = command.replace('"$BASE/openapi.json"', `${life.running.baseUrl}/openapi.json`).split(' ');
  await promisify(execFile)(join(dirname(python), 'openapi-python-client'), options, { cwd: life.folder });
});
afterAll(() => life?.end());

test('the Python of a reader is short, and lives through the same, paying once, before and after the TypeScript', async () => {
  expect(linesOf(documentedCode(PAGE, 'client.py'))).toBeLessThan(40);
  for (const block of ['run.py', 'run.ts', 'run.ts', 'run.py']) {
    const lived = await life.live(block, `${dirname(python)}:${dirname(process.execPath)}`);
    expect({ block, ...lived }).toEqual({ block, ...LIVED, tokens: expect.any(Number) });
    expect(lived.tokens).toBeGreaterThan(1);
  }
});
