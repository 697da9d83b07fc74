import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { UploadSession } from './upload-session.ts';
import { giveToOwner, naming } from '../../support/durable-files.ts';
import { tooManyUnderWay } from '../errors/http-problem.ts';
import { Slots } from '../limits/slots.ts';
import type { SlotBounds } from '../limits/slots.ts';

const MINUTE_MS = 60_000;
/**
 * A process marks its folder every minute; one that has not done so for this long has ended or hangs. Nothing else tells: containers that
 * share a volume, and often a host name, all have a process 1.
 */
const SILENCE_MS = 5 * MINUTE_MS;
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
  readonly #slots = new Slots(UPLOAD_BOUNDS);
  #timer: NodeJS.Timeout | undefined;
  #sweeping: Promise<void> = Promise.resolve();

  private constructor(root: string) {
    this.#root = root;
    this.#directory = join(root, randomUUID());
  }

  /** Makes a folder for this process; removes abandoned folders at once and then every minute. @throws Error when it cannot be made */
  static async open(root: string, sweepEveryMs = MINUTE_MS): Promise<UploadArea> {
    const area = new UploadArea(root);
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

  /** Refuses what waits for its turn, and from now on what would. */
  endWaiting(): void {
    this.#slots.end();
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
    await naming(path, writeFile(path, MARK, { mode: 0o600 }));
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

const sweepFolder = async (path: string, now: number): Promise<void> => {
  const marked = await modifiedAt(join(path, MARK)).catch(() => modifiedAt(path));
  if (marked < now - SILENCE_MS) await rm(path, { recursive: true, force: true });
};
