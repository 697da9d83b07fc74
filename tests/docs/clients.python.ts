import { execFile } from 'node:child_process';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { documentedCode, linesOf } from '../support/documented-receiver.ts';
import { DocumentedLife, EVENTS, OUTPUT, RECEIVED } from '../support/documented-life.ts';

const PAGE = 'clients.md';
/** An interpreter that has what the page installs; see .ci/run. */
const python = process.env['PYTHON'] ?? 'python3';

let life: DocumentedLife;

beforeAll(async () => {
  life = await DocumentedLife.prepare(['client.py', 'life.py']);
  const [, command = ''] =
    /openapi-python-client (generate .*)\n/.exec(documentedCode(PAGE, 'install.py')) ?? [];
  const options = command.replace('"$BASE/openapi.json"', `${life.running.baseUrl}/openapi.json`).split(' ');
  await promisify(execFile)(join(dirname(python), 'openapi-python-client'), options, { cwd: life.folder });
});
afterAll(() => life?.end());

test('the Python of a reader is short, and lives through the same, paying once', async () => {
  expect(linesOf(documentedCode(PAGE, 'client.py'))).toBeLessThan(40);
  const lived = await life.live([python, 'life.py'], 'PY-1');
  expect([lived.output, lived.received, lived.events]).toEqual([OUTPUT, RECEIVED, EVENTS]);
  expect(lived.tokens).toBeGreaterThan(1);
});
