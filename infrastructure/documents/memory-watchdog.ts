import { workerData } from 'node:worker_threads';

/* A thread beside the parser, which it can kill while that one is busy: V8's own limits do not count buffers outside of its heap. */

const WATCH_EVERY_MS = 20;
const { megabytes } = workerData as { readonly megabytes: number };
const parent = process.ppid;

setInterval(() => {
  const tooMuch = process.memoryUsage.rss() > megabytes * 1024 * 1024;
  const orphaned = process.ppid !== parent;
  if (tooMuch || orphaned) process.kill(process.pid, 'SIGKILL');
}, WATCH_EVERY_MS);
