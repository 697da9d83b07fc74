import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fillEventLog } from '../support/event-log-at-size.ts';

/** How fast `projections rebuild` takes in the log of the embedded profile, each read model as a command of its own. */
const operations = Number(process.argv[2] ?? 25_000);

const command = (dataDir: string, ...args: readonly string[]): string =>
  execFileSync(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', 'infrastructure/composition/receivables.ts', ...args],
    { encoding: 'utf8', env: { ...process.env, DATA_DIR: dataDir, LOG_LEVEL: 'error' } },
  );

const dataDir = mkdtempSync(join(tmpdir(), 'receivables-rebuild-'));
try {
  const events = fillEventLog(dataDir, operations);
  for (const pass of ['first', 'compared'] as const)
    for (const name of ['loan', 'reconciliation', 'portfolio']) {
      if (pass === 'compared') command(dataDir, 'projections', 'drop-old', name);
      const begun = performance.now();
      const result = JSON.parse(command(dataDir, 'projections', 'rebuild', name)) as {
        readonly outcome: string;
      };
      const seconds = (performance.now() - begun) / 1_000;
      console.log(
        `${pass} ${name}: ${events} events in ${seconds.toFixed(1)} s, ${Math.round(events / seconds)} events/s`,
        result.outcome,
      );
    }
} finally {
  rmSync(dataDir, { recursive: true, force: true });
}
