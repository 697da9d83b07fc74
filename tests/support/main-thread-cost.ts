import { readFile } from 'node:fs/promises';

/** Processor milliseconds that the main thread of a process has used, as the kernel counts them (Linux). */
export const mainThreadMs = async (pid: number): Promise<number> => {
  const [nanoseconds] = (await readFile(`/proc/${pid}/task/${pid}/schedstat`, 'utf8')).split(' ');
  return Number(nanoseconds) / 1e6;
};

/** Processor milliseconds of this thread that `work` takes, the least of three tries: what is left is the work itself. */
export const mainThreadCost = async (work: () => Promise<unknown>): Promise<number> => {
  const tries: number[] = [];
  for (let i = 0; i < 3; i += 1) {
    const before = process.threadCpuUsage();
    await work();
    const { user, system } = process.threadCpuUsage(before);
    tries.push((user + system) / 1_000);
  }
  return Math.min(...tries);
};

/** What one request may cost the thread that serves all of them. */
export const MOST_MS = 50;
