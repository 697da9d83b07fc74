import { readFileSync, readdirSync } from 'node:fs';

/** What the kernel counts, in milliseconds since it began to count. */
interface LoadReading {
  /** Processor time of everything that runs on this machine. */
  readonly machineMs: number;
  /** Processor time of the service and of the processes that it started. */
  readonly serviceMs: number;
  /** Time in which each thread of the service, and the neighbour's own, was ready to run and had no processor. */
  readonly waitedMs: ReadonlyMap<string, number>;
}

const NEIGHBOUR = 'neighbour';
const TICK_MS = 10;
const NANOSECONDS_PER_MS = 1e6;

/** What a file of /proc says; empty once its process has ended, and where there is no /proc. */
const said = (path: string): string => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
};

const threadsOf = (pid: number): readonly string[] => {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
};

const treeOf = (pid: number): readonly number[] => {
  const children = threadsOf(pid).flatMap((thread) =>
    said(`/proc/${pid}/task/${thread}/children`).trim().split(/\s+/).filter(Boolean).map(Number),
  );
  return [pid, ...children.flatMap(treeOf)];
};

const sum = (figures: readonly number[]): number => figures.reduce((total, figure) => total + figure, 0);

/** User and system time, with that of the children that have ended. */
const processorTicks = (pid: number): number => {
  const fields = said(`/proc/${pid}/stat`).split(') ')[1]?.split(' ') ?? [];
  return sum(fields.slice(11, 15).map(Number));
};

/** User, nice, system, and the interrupts; not idle and not waiting for the disk. */
const machineTicks = (): number => {
  const fields = said('/proc/stat').split('\n')[0]?.trim().split(/\s+/).slice(1).map(Number) ?? [];
  return sum(fields.filter((_, i) => [0, 1, 2, 5, 6, 7].includes(i)));
};

const waitedIn = (schedstat: string): number => Number(schedstat.split(' ')[1] ?? 0) / NANOSECONDS_PER_MS;

export const readLoad = (servicePid: number): LoadReading => ({
  machineMs: machineTicks() * TICK_MS,
  serviceMs: sum(treeOf(servicePid).map(processorTicks)) * TICK_MS,
  waitedMs: new Map([
    [NEIGHBOUR, waitedIn(said('/proc/thread-self/schedstat'))],
    ...threadsOf(servicePid).map(
      (id) => [id, waitedIn(said(`/proc/${servicePid}/task/${id}/schedstat`))] as const,
    ),
  ]),
});

/** An answer passes through the neighbour, the service's main thread and at most one other: what these waited adds up. */
const waitedBetween = (before: LoadReading, after: LoadReading, servicePid: number): number => {
  const waited = (id: string): number =>
    Math.max(0, (after.waitedMs.get(id) ?? 0) - (before.waitedMs.get(id) ?? 0));
  const main = String(servicePid);
  const others = [...after.waitedMs.keys()].filter((id) => id !== NEIGHBOUR && id !== main);
  return waited(NEIGHBOUR) + waited(main) + Math.max(0, ...others.map(waited));
};

/**
 * How much of the time between two readings the service lost to others: it was ready to run, and what ran instead was not
 * its own work. Time that its own threads and processes take from each other is not excused.
 */
export const lostToOthers = (before: LoadReading, after: LoadReading, servicePid: number): number => {
  const machine = after.machineMs - before.machineMs;
  if (machine <= 0) return 0;
  const foreign = Math.max(0, 1 - (after.serviceMs - before.serviceMs) / machine);
  return waitedBetween(before, after, servicePid) * foreign;
};
