import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Worker } from 'node:worker_threads';

const CHANNEL = 'worker_threads';

/** Tells of each thread that this process starts, as soon as it is made, until the answer is called. */
export const onThreadStarted = (tell: (worker: Worker) => void): (() => void) => {
  const told = (message: unknown): void => tell((message as { readonly worker: Worker }).worker);
  subscribe(CHANNEL, told);
  return () => void unsubscribe(CHANNEL, told);
};
