import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { fillEventLog } from '../support/event-log-at-size.ts';
import { printProfiles, profiling } from './profile-summary.ts';
import { serviceDirectory } from './service-directory.ts';

/**
 * How fast `projections rebuild` takes in the log of the embedded profile; with `profile` a further one says where its time goes.
 * `node tests/bench/rebuild-bench.ts [operations] [profile]`
 */
const operations = Number(process.argv[2] ?? 25_000);

const command = (dataDir: string, args: readonly string[], environment = {}): string =>
  execFileSync(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', 'infrastructure/composition/receivables.ts', ...args],
    { encoding: 'utf8', env: { ...process.env, DATA_DIR: dataDir, LOG_LEVEL: 'error', ...environment } },
  );

const dataDir = await serviceDirectory();
try {
  const events = fillEventLog(dataDir, operations);
  // Where no generation serves yet, any command builds the first.
  for (const [pass, name] of [
    ['first', 'list'],
    ['compared', 'rebuild'],
  ] as const) {
    const begun = performance.now();
    command(dataDir, ['projections', name]);
    const seconds = (performance.now() - begun) / 1_000;
    console.log(
      `${pass}: ${events} events in ${seconds.toFixed(1)} s, ${Math.round(events / seconds)} events/s`,
    );
  }
  if (process.argv.includes('profile')) {
    const directory = join(dataDir, 'profiles');
    command(dataDir, ['projections', 'rebuild'], profiling(directory));
    printProfiles(directory, events);
  }
} finally {
  rmSync(dataDir, { recursive: true, force: true });
}
