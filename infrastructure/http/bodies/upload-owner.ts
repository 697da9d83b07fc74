import { readFile, readlink } from 'node:fs/promises';

/*
 * Which process a folder belongs to, told so that another process of the same machine can see whether it still runs. A number
 * of a process alone means nothing: containers that share a volume, and often a host name, all have a process 1.
 */

const startOf = async (pid: number): Promise<string | undefined> => {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  return stat?.slice(stat.lastIndexOf(')')).split(' ')[20];
};

/** The numbers of processes are told apart within one of these; undefined where the system does not say. */
const machine = async (): Promise<string | undefined> => {
  try {
    const boot = await readFile('/proc/sys/kernel/random/boot_id', 'utf8');
    return `${boot.trim()} ${await readlink('/proc/self/ns/pid')}`;
  } catch {
    return undefined;
  }
};

interface Owner {
  readonly machine: string;
  readonly pid: number;
  readonly start: string;
}

/** What this process writes into its folder; empty where the system does not tell enough. */
export const ownMark = async (): Promise<string> => {
  const owner = { machine: await machine(), pid: process.pid, start: await startOf(process.pid) };
  return owner.machine === undefined || owner.start === undefined ? '' : JSON.stringify(owner);
};

const parsed = (mark: string): Owner | undefined => {
  try {
    return JSON.parse(mark) as Owner;
  } catch {
    return undefined;
  }
};

/** Whether the process that wrote this has certainly ended: a process of this machine, and not there any more. */
export const hasEnded = async (mark: string): Promise<boolean> => {
  const owner = parsed(mark);
  if (owner === undefined || owner.machine !== (await machine())) return false;
  return (await startOf(owner.pid)) !== owner.start;
};
