import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { documentedCode, linesOf } from '../support/documented-code.ts';
import { live, RECEIVED, STATUSES } from '../support/documented-life.ts';
import { RunningService } from '../support/running-service.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const PAGE = 'clients.md';
/** An interpreter that has what the page installs; see .ci/run. */
const python = process.env['PYTHON'] ?? 'python3';

let running: RunningService;
let folder: Awaited<ReturnType<typeof temporaryDirectory>>;

beforeAll(async () => {
  running = await RunningService.start();
  folder = await temporaryDirectory();
  for (const name of ['client.py', 'life.py']) {
    await writeFile(join(folder.path, name), documentedCode(PAGE, name));
  }
  const [, command = ''] =
    /openapi-python-client (generate .*)\n/.exec(documentedCode(PAGE, 'install.py')) ?? [];
  const options = command.replace('"$BASE/openapi.json"', `${running.baseUrl}/openapi.json`).split(' ');
  await promisify(execFile)(join(dirname(python), 'openapi-python-client'), options, { cwd: folder.path });
});
afterAll(async () => {
  await running.stop();
  await folder.remove();
});

test('the Python of a reader is short, and lives through the same, paying once', async () => {
  expect(linesOf(documentedCode(PAGE, 'client.py'))).toBeLessThan(40);
  const lived = await live(running, [python, 'life.py'], folder.path, 'PY-1');
  expect([lived.output, lived.received]).toEqual([STATUSES, RECEIVED]);
  expect(lived.tokens).toBeGreaterThan(1);
});
