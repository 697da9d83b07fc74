import './compile-cache.ts';
import { tooFewFiles } from './open-files.ts';
import { newBackgroundWorker } from './background/background-worker.ts';

/*
 * Where the service begins. With an embedded engine it runs in two threads, which load the same modules: side by side, so the second
 * begins before the first has loaded anything.
 */
const tooFew = tooFewFiles();
if (tooFew !== undefined) {
  process.stderr.write(`${tooFew}\n`);
  process.exit(1);
}
const { EVENTSTORE_URL, DATABASE_URL } = process.env;
const embedded = !EVENTSTORE_URL || !DATABASE_URL;
const worker = embedded ? newBackgroundWorker() : undefined;
const { runService } = await import('./run-service.ts');
await runService(worker);
