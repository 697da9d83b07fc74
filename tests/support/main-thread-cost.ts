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

/** What one request may cost the thread that serves everybody. */
export const MOST_MS = 50;
