import { parentPort, workerData } from 'node:worker_threads';
import '../compile-cache.ts';

/*
 * Where the background thread begins. The rest is loaded after the cache of compiled modules is in place.
 */
const { runBackground } = await import('./run-background.ts');
await runBackground(workerData as Parameters<typeof runBackground>[0], parentPort!);
