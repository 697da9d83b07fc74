import { randomUUID } from 'node:crypto';
import { mkdir, readFile, readdir, readlink, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { UploadSession } from './upload-session.ts';
import { giveToOwner, naming } from '../../support/durable-files.ts';
import { tooManyUnderWay } from '../errors/http-problem.ts';
import { Slots } from '../limits/slots.ts';
import type { SlotBounds } from '../limits/slots.ts';

/*
 * The mark of a folder names the process that owns it, so that another process of the same machine can see whether it still runs.
 * A process number alone is not enough: containers that share a volume, and often a host name, all have a process 1.
 */

const startOf = async (pid: number): Promise<string | undefined> => {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  return stat?.slice(stat.lastIndexOf(')')).split(' ')[20];
};

/** Boot and process namespace, within which a process number is unique; undefined where the system does not tell. */
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
const ownMark = async (): Promise<string> => {
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
const hasEnded = async (mark: string): Promise<boolean> => {
  const owner = parsed(mark);
  if (owner === undefined || owner.machine !== (await machine())) return false;
  return (await startOf(owner.pid)) !== owner.start;
};

const MINUTE_MS = 60_000;
/** A process marks its folder every minute; one that has not done so for this long has ended or hangs. */
const SILENCE_MS = 5 * MINUTE_MS;
const DAY_MS = 24 * 60 * MINUTE_MS;
const MARK = 'owner';

const MEBIBYTE = 1_048_576;

/** Weight is bytes on disk, in files of requests under way; who waits is not read meanwhile. */
export const UPLOAD_BOUNDS: SlotBounds = {
  application: { places: 64, weight: 512 * MEBIBYTE },
  process: { places: 512, weight: 4096 * MEBIBYTE },
  waiting: 128,
  waitMs: 10_000,
  leastWeight: 4 * MEBIBYTE,
  mostWeight: 50 * MEBIBYTE,
  refused: () => tooManyUnderWay('uploads'),
};

interface UploadAreaOptions {
  readonly slots?: Slots;
  readonly sweepEveryMs?: number;
}

interface Arrival {
  readonly applicationId: string;
  /** Undefined when the client does not say. */
  readonly declaredBytes: number | undefined;
  /** Answers the signal of a client that has gone; asked where the upload has to wait. */
  readonly gone: () => AbortSignal;
}

const modifiedAt = async (path: string): Promise<number> => (await stat(path)).mtimeMs;

/**
 * Where uploads wait, sealed, while their request is handled. Each process has a folder of its own under the root, which
 * several hosts may share, and removes the folders of processes that are gone.
 */
export class UploadArea {
  readonly #root: string;
  readonly #directory: string;
  readonly #slots: Slots;
  readonly #mark: string;
  #timer: NodeJS.Timeout | undefined;
  #sweeping: Promise<void> = Promise.resolve();

  private constructor(root: string, mark: string, slots: Slots) {
    this.#root = root;
    this.#directory = join(root, randomUUID());
    this.#mark = mark;
    this.#slots = slots;
  }

  /** Makes a folder for this process; removes abandoned folders at once and then every minute. @throws Error when it cannot be made */
  static async open(root: string, options: UploadAreaOptions = {}): Promise<UploadArea> {
    const { slots = new Slots(UPLOAD_BOUNDS), sweepEveryMs = MINUTE_MS } = options;
    const area = new UploadArea(root, await ownMark(), slots);
    await area.#markFolder();
    await area.#sweep();
    area.#timer = setInterval(() => {
      area.#sweeping = area.#sweeping
        .then(() => area.#markFolder())
        .then(() => area.#sweep())
        .catch(ignore);
    }, sweepEveryMs).unref();
    return area;
  }

  /** @throws HttpProblem `rate_limited` when too much is under way @throws ClientGoneError */
  async session({ applicationId, declaredBytes, gone }: Arrival): Promise<UploadSession> {
    return new UploadSession(this.#directory, await this.#slots.enter(applicationId, declaredBytes, gone));
  }

  /** Never fails: what cannot be removed now is removed by another process, or at the next start. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#sweeping;
    await rm(this.#directory, { recursive: true, force: true }).catch(ignore);
  }

  /** Shows that this process lives; makes the folder again if it was removed. */
  async #markFolder(): Promise<void> {
    await mkdir(this.#directory, { recursive: true, mode: 0o700 });
    giveToOwner(this.#root);
    giveToOwner(this.#directory);
    const path = join(this.#directory, MARK);
    await naming(path, writeFile(path, this.#mark, { mode: 0o600 }));
  }

  /** Compares times of the file system that holds the folders only, so that the clocks of hosts need not agree. */
  async #sweep(): Promise<void> {
    const now = await modifiedAt(join(this.#directory, MARK));
    for (const name of await readdir(this.#root)) {
      const path = join(this.#root, name);
      if (path === this.#directory) continue;
      await sweepFolder(path, now).catch(ignore);
    }
  }
}

const ignore = (): void => undefined;

const remove = (path: string): Promise<void> => rm(path, { recursive: true, force: true });

const sweepFolder = async (path: string, now: number): Promise<void> => {
  const mark = await readFile(join(path, MARK), 'utf8').catch(() => undefined);
  if (mark === undefined) return sweepUnmarked(path, now);
  const silent = (await modifiedAt(join(path, MARK))) < now - SILENCE_MS;
  if (silent || (await hasEnded(mark))) await remove(path);
};

/** Earlier versions did not mark their folders. One of them may still run beside this one, so its folder stays for a day. */
const sweepUnmarked = async (path: string, now: number): Promise<void> => {
  const names = (await stat(path)).isDirectory() ? await readdir(path) : [];
  const paths = names.map((name) => join(path, name));
  const changed = Math.max(...(await Promise.all([path, ...paths].map(modifiedAt))));
  if (changed < now - DAY_MS) await remove(path);
  else if (changed < now - SILENCE_MS) await Promise.all(paths.map(remove));
};
