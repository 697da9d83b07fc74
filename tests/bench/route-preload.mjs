import { existsSync, writeFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { join } from 'node:path';
import { syncBuiltinESMExports } from 'node:module';
import workerThreads from 'node:worker_threads';

/**
 * In each thread of the service: counts which functions run, and writes what ran since the last time when the folder ROUTE_DIR holds
 * a file `take-<n>`.
 */
const { threadId, Worker } = workerThreads;
workerThreads.Worker = class extends Worker {
  constructor(entry, options = {}) {
    super(entry, { ...options, execArgv: [...(options.execArgv ?? []), '--import', import.meta.url] });
  }
};
syncBuiltinESMExports();

const folder = process.env.ROUTE_DIR;
const session = new Session();
session.connect();
await session.post('Profiler.enable');
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });

let next = 0;
setInterval(async () => {
  if (!existsSync(join(folder, `take-${next}`))) return;
  const number = next++;
  const { result } = await session.post('Profiler.takePreciseCoverage');
  const ran = result
    .filter(({ url, functions }) => url.startsWith('file:') && functions.some(called))
    .map(({ url, functions }) => ({
      url,
      functions: functions.filter(called).map(({ functionName }) => functionName),
    }));
  writeFileSync(join(folder, `ran-${number}-${threadId}.json`), JSON.stringify(ran));
}, 50).unref();

const called = ({ ranges }) => ranges.some(({ count }) => count > 0);
