import { spawnSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';

const LOGGING = fileURLToPath(new URL('../../../infrastructure/observability/logging.ts', import.meta.url));

const FAILS_AND_EXITS = `
  import { standardOutput } from ${JSON.stringify(LOGGING)};
  const output = standardOutput();
  output.once('error', () => process.exit(7));
  output.write('a line\\n');`;

test('a process whose log is on a full disk exits', () => {
  const full = openSync('/dev/full', 'w');
  try {
    const { status, signal } = spawnSync(process.execPath, ['--input-type=module', '-e', FAILS_AND_EXITS], {
      stdio: ['ignore', full, 'pipe'],
      timeout: 10_000,
      killSignal: 'SIGKILL',
    });
    expect({ status, signal }).toEqual({ status: 7, signal: null });
  } finally {
    closeSync(full);
  }
});
