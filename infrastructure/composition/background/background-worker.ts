import { Worker } from 'node:worker_threads';
import type { CreateWorker } from '../../sqlite/database-thread.ts';

const ENTRY = new URL('./background-main.ts', import.meta.url);

const createNodeWorker: CreateWorker = (entry, options) => new Worker(entry, options);

/** The background thread before its first message, which is what it is to do: it loads its modules, and keeps no process alive. */
export const newBackgroundWorker = (createWorker: CreateWorker = createNodeWorker): Worker => {
  // Not the flags of the process: a thread refuses those that concern memory or the whole process.
  const execArgv = ['--disable-warning=ExperimentalWarning'];
  const worker = createWorker(ENTRY, { name: 'background', execArgv });
  worker.unref();
  return worker;
};
