import { readFileSync, readdirSync } from 'node:fs';

/** Clock ticks a second of /proc; the same on every Linux that Node.js runs on. */
const TICKS = 100;

interface Process {
  readonly parent: number;
  /** Of itself and of children that have ended. */
  readonly seconds: number;
}

/** See proc_pid_stat(5): the command stands in parentheses and may hold anything. */
const readProcess = (pid: string): Process | undefined => {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
    return { parent: Number(fields[1]), seconds: ticks / TICKS };
  } catch {
    return undefined;
  }
};

const processes = (): ReadonlyMap<number, Process> =>
  new Map(
    readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .flatMap((pid) => {
        const found = readProcess(pid);
        return found ? [[Number(pid), found] as const] : [];
      }),
  );

/** Seconds of processor time that a process has used, with everything that it ever started. */
export const processorSeconds = (pid: number): number => {
  const all = processes();
  const children = Map.groupBy(all.keys(), (one) => all.get(one)!.parent);
  const sum = (one: number): number =>
    (all.get(one)?.seconds ?? 0) + (children.get(one) ?? []).reduce((total, child) => total + sum(child), 0);
  return sum(pid);
};

/** Our own child whose command line holds this. */
export const childRunning = (text: string): number => {
  for (const [pid, { parent }] of processes()) {
    if (parent !== process.pid) continue;
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
    if (command.includes(text)) return pid;
  }
  throw new Error(`no child process runs ${text}`);
};

/** Seconds of processor time of each thread of a process, by its name; threads of one name together. */
export const threadSeconds = (pid: number): ReadonlyMap<string, number> => {
  const seconds = new Map<string, number>();
  for (const task of readdirSync(`/proc/${pid}/task`)) {
    try {
      const text = readFileSync(`/proc/${pid}/task/${task}/stat`, 'utf8');
      const [open, close] = [text.indexOf('('), text.lastIndexOf(')')];
      const fields = text.slice(close + 2).split(' ');
      const name = Number(task) === pid ? 'main' : text.slice(open + 1, close);
      seconds.set(name, (seconds.get(name) ?? 0) + (Number(fields[11]) + Number(fields[12])) / TICKS);
    } catch {
      // It has ended since the directory was read.
    }
  }
  return seconds;
};
