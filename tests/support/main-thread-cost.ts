import { readFile } from 'node:fs/promises';

/** Processor milliseconds that the main thread of a process has used, as the kernel counts them (Linux). */
export const mainThreadMs = async (pid: number): Promise<number> => {
  const [nanoseconds] = (await readFile(`/proc/${pid}/task/${pid}/schedstat`, 'utf8')).split(' ');
  return Number(nanoseconds) / 1e6;
};

/** What one request may cost the thread that serves all of them, on a machine that parses `YARDSTICK` in `YARDSTICK_MS`. */
export const MOST_MS = 50;

/** Milliseconds of `YARDSTICK` on two quiet cores of a common server. */
const YARDSTICK_MS = 6;
const YARDSTICK = JSON.stringify(
  Object.fromEntries(Array.from({ length: 18_000 }, (_, i) => [`a${i.toString(36)}`, 1])),
);

/** How many times slower than that machine this one is now, at least 1: the least of ten tries at a fixed piece of work. */
export const slowness = (): number => {
  let least = Infinity;
  for (let i = 0; i < 10; i += 1) {
    const begun = performance.now();
    JSON.parse(YARDSTICK);
    least = Math.min(least, performance.now() - begun);
  }
  return Math.max(1, least / YARDSTICK_MS);
};

/** A busy machine makes any work dearer for a while: so often it is done again before it counts as too dear. */
export const MOST_TRIES = 12;

/** Processor milliseconds of this thread that `work` takes, as on the machine of `MOST_MS`: the first try below `bound`, or the least. */
export const mainThreadCost = async (work: () => Promise<unknown>, bound = MOST_MS): Promise<number> => {
  let least = Infinity;
  for (let i = 0; i < MOST_TRIES && least >= bound; i += 1) {
    const before = process.threadCpuUsage();
    await work();
    const { user, system } = process.threadCpuUsage(before);
    const spent = (user + system) / 1_000;
    least = Math.min(least, spent < bound ? spent : spent / slowness());
  }
  return least;
};
