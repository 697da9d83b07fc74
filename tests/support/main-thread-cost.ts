import { readFile } from 'node:fs/promises';

/** Processor milliseconds that the main thread of a process has used, as the kernel counts them (Linux). */
export const mainThreadMs = async (pid: number): Promise<number> => {
  const [nanoseconds] = (await readFile(`/proc/${pid}/task/${pid}/schedstat`, 'utf8')).split(' ');
  return Number(nanoseconds) / 1e6;
};

/** What one request may cost the thread that serves all of them. */
export const MOST_MS = 50;

/** A busy machine makes any work dearer for a while: so often it is done again before it counts as too dear. */
export const MOST_TRIES = 12;

/** Processor milliseconds of this thread that `work` takes: the first try below `bound`, or the least of all. */
export const mainThreadCost = async (work: () => Promise<unknown>, bound = MOST_MS): Promise<number> => {
  let least = Infinity;
  for (let i = 0; i < MOST_TRIES && least >= bound; i += 1) {
    const before = process.threadCpuUsage();
    await work();
    const { user, system } = process.threadCpuUsage(before);
    least = Math.min(least, (user + system) / 1_000);
  }
  return least;
};
