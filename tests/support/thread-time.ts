import { readFile } from 'node:fs/promises';

/** Processor milliseconds that the main thread of a process has used, as the kernel counts them (Linux). */
export const mainThreadMs = async (pid: number): Promise<number> => {
  const [nanoseconds] = (await readFile(`/proc/${pid}/task/${pid}/schedstat`, 'utf8')).split(' ');
  return Number(nanoseconds) / 1e6;
};
