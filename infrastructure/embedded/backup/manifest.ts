import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { chmod, copyFile, readFile, readdir, realpath, stat, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { messageOf } from '../../../application/support/failures.ts';
import { ifThere, makeDirectory, sync, writeDurably, hasCode } from '../../support/durable-files.ts';
import { lockFile } from '../directory-lock.ts';

/** A backup that is not whole, not readable, or not of this service; or a place where none can be put. */
export class BackupFailedError extends Error {
  override readonly name = 'BackupFailedError';
}

/**
 * Files below a directory, `/` between names; none when it is not there. Names that begin with a dot are drafts.
 * @throws BackupFailedError for a link, which may lead out of the directory, and for a pipe, which has no end
 */
export const filesBelow = async (root: string, below: string): Promise<readonly string[]> => {
  const entries = (await ifThere(readdir(join(root, below), { withFileTypes: true }))) ?? [];
  const nested = entries
    .filter(({ name }) => !name.startsWith('.'))
    .map(async (entry) => {
      const path = `${below}/${entry.name}`;
      if (entry.isDirectory()) return filesBelow(root, path);
      if (!entry.isFile()) throw new BackupFailedError(`${join(root, path)} is neither file nor directory`);
      return [path];
    });
  return (await Promise.all(nested)).flat().toSorted();
};

/** Readable by its owner alone, who may write it, whatever the source is. False when that has just been removed. */
export const copyDurably = async (source: string, target: string): Promise<boolean> => {
  await makeDirectory(dirname(target));
  if (!(await ifThere(copyFile(source, target).then(() => true)))) return false;
  await chmod(target, 0o600);
  await sync(target);
  await sync(dirname(target));
  return true;
};

/** What is in a directory; undefined when there is none. */
export const namesIn = (directory: string): Promise<readonly string[] | undefined> =>
  ifThere(readdir(directory));

/** Another file system begins here. False for what is not there. */
export const isMountPoint = async (path: string): Promise<boolean> => {
  const [own, above] = [await ifThere(stat(path)), await ifThere(stat(dirname(path)))];
  return own !== undefined && above !== undefined && own.dev !== above.dev;
};

/** Where a path leads, also one that is not there yet. */
export const placeOf = async (path: string): Promise<string> => {
  const place = await ifThere(realpath(path));
  if (place !== undefined) return place;
  const whole = resolve(path);
  return join(await placeOf(dirname(whole)), basename(whole));
};

export const MANIFEST_FILE = 'manifest.json';
const FORMAT = 1;

interface BackedUpFile {
  /** Within the backup, with `/`. */
  readonly path: string;
  readonly size: number;
  readonly sha256: string;
}

/** An event that does not follow from the one before in its stream. */
export interface BrokenLink {
  readonly stream: string;
  readonly revision: number;
}

export interface Manifest {
  readonly format: number;
  readonly program_version: string;
  readonly begun_at: string;
  readonly finished_at: string;
  readonly log: { readonly position: number; readonly events: number; readonly streams: number };
  readonly master_key_contained: boolean;
  /** In the log as in this copy of it; absent where there are none. */
  readonly damaged_events?: readonly BrokenLink[];
  readonly files: readonly BackedUpFile[];
}

const sha256Of = async (path: string): Promise<string> => {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
};

export const describeFile = async (root: string, path: string): Promise<BackedUpFile> => {
  const file = join(root, path);
  return { path, size: (await stat(file)).size, sha256: await sha256Of(file) };
};

export const writeManifest = async (root: string, manifest: Omit<Manifest, 'format'>): Promise<void> => {
  await writeDurably(
    join(root, MANIFEST_FILE),
    `${JSON.stringify({ format: FORMAT, ...manifest }, null, 2)}\n`,
  );
};

/** Any name that a file may have, unless it leads out of the directory. */
const SAFE_PATH = /^(?!\/)(?!.*(^|\/)\.\.?(\/|$))[^\0]+$/s;

/** @throws BackupFailedError */
export const readManifest = async (root: string): Promise<Manifest> => {
  let manifest: Manifest;
  try {
    manifest = JSON.parse(await readFile(join(root, MANIFEST_FILE), 'utf8')) as Manifest;
  } catch (error) {
    throw new BackupFailedError(
      `${root} is not a finished backup: its manifest cannot be read (${messageOf(error)})`,
      { cause: error },
    );
  }
  if (manifest.format !== FORMAT || !Array.isArray(manifest.files))
    throw new BackupFailedError(`${root} was written by another version: its manifest has another format`);
  for (const { path } of manifest.files as readonly BackedUpFile[])
    if (!SAFE_PATH.test(path))
      throw new BackupFailedError(`the manifest names a file outside the backup: ${path}`);
  return manifest;
};

/** @throws BackupFailedError for the first file that is not what the manifest says */
export const checkFiles = async (root: string, { files }: Manifest): Promise<void> => {
  for (const file of files) {
    const found = await describeFile(root, file.path).catch((error: unknown) => {
      throw new BackupFailedError(`${file.path} cannot be read`, { cause: error });
    });
    if (found.size !== file.size || found.sha256 !== file.sha256)
      throw new BackupFailedError(`${file.path} is not as it was written: size or SHA-256 differs`);
  }
};

/**
 * Works on a draft that nobody else works on meanwhile; one whose process was killed is free.
 * @param path of the lock, which is there as long as the work goes on
 * @throws BackupFailedError with `busy` when another process has it, and where the disk is full
 */
export const oneAtATime = async <Result>(
  path: string,
  busy: string,
  work: () => Promise<Result>,
): Promise<Result> => {
  const lock = lockFile(path, 'alone');
  if (!lock) throw new BackupFailedError(busy);
  try {
    return await work();
  } catch (error) {
    if (!hasCode(error, 'ENOSPC') && !hasCode(error, 'EDQUOT')) throw error;
    throw new BackupFailedError(
      `${dirname(path)} has no room left: make room there, and give the same command again (${messageOf(error)})`,
      { cause: error },
    );
  } finally {
    await rm(path, { force: true });
    await lock.close();
  }
};
