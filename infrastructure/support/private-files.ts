import { chmod, lstat, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** With it, files of this process and of its child processes are readable by their owner alone. */
export const PRIVATE_UMASK = 0o077;
const OTHERS = 0o077;
const KEY_FILE = /\.key$/;

interface Entry {
  readonly path: string;
  readonly mode: number;
}

interface ExposedFiles {
  /** The directory or a key in it, with its mode, where other users could read it. */
  readonly worst: string | undefined;
  /** Everything that other users could read, or that has too open a mode. */
  readonly open: readonly Entry[];
}

const entryOf = async (path: string): Promise<Entry | undefined> => {
  const found = await stat(path).catch(() => undefined);
  return found && { path, mode: found.mode & 0o777 };
};

const isOpen = ({ mode }: Entry): boolean => (mode & OTHERS) !== 0;

/** The directory's own entries, and everything below them when `deep`. */
const entriesIn = async (directory: string, deep: boolean): Promise<readonly Entry[]> => {
  const names = await readdir(directory, { recursive: deep }).catch(() => []);
  const entries = await Promise.all(names.map((name) => entryOf(join(directory, name))));
  return entries.filter((entry) => entry !== undefined);
};

/** What other users of the machine could read of a directory. Undefined without the directory, or where modes do not protect. */
export const exposedFiles = async (path: string): Promise<ExposedFiles | undefined> => {
  const directory = process.platform === 'win32' ? undefined : await entryOf(path);
  if (!directory) return undefined;
  const entries = await entriesIn(path, isOpen(directory));
  const worst = [directory, ...entries.filter(({ path: entry }) => KEY_FILE.test(entry))].find(isOpen);
  return {
    worst: worst && `${worst.path} (mode 0${worst.mode.toString(8)})`,
    open: [directory, ...entries].filter(isOpen),
  };
};

/** What a link leads to is somebody else's, unless it is a key. */
const mayBeClosed = async (directory: string, path: string): Promise<boolean> =>
  path === directory || KEY_FILE.test(path) || !(await lstat(path)).isSymbolicLink();

/** Takes the rights of other users away. @returns whether the directory is private now */
export const closeToOthers = async (path: string, { open }: ExposedFiles): Promise<boolean> => {
  for (const entry of open) {
    if (!(await mayBeClosed(path, entry.path).catch(() => false))) continue;
    await chmod(entry.path, entry.mode & ~OTHERS).catch(() => undefined);
  }
  const directory = await entryOf(path);
  return directory === undefined || !isOpen(directory);
};
