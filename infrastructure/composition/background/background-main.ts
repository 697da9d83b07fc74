import { parentPort } from 'node:worker_threads';
import '../compile-cache.ts';
import type { BackgroundData } from './background-worker.ts';

/*
 * Where the background thread begins. The rest is loaded after the cache of compiled modules is in place. The first message says what
 * it is to do; later messages go to the listener that `runBackground` adds in the same turn.
 */
const { runBackground } = await import('./run-background.ts');
const port = parentPort!;
port.once('message', (data: BackgroundData) => void runBackground(data, port));
