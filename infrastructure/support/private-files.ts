import { chmod, lstat, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** With it, files of this process and of its child processes are readable by their owner alone. */
export const PRIVATE_UMASK = 0o077;
const OTHERS = 0o077;
/** Also one that was, is to be, or is still being written. */
const KEY_FILE = /\.key(\.[^/]*)?$/;

interface Entry {
  readonly path: string;
  readonly mode: number;
}

interface ExposedFiles {
  /** The directory or a key in it, with its mode, where other users could read it. */
  readonly worst: string | undefined;
  /** Of what is the service's: everything that other users could read, or that has too open a mode. */
  readonly open: readonly Entry[];
  /** What other users may read in the directory, because it is none of the service's: the first of it. */
  readonly foreign: string | undefined;
  /** What whoever runs the service can do about `worst`. */
  readonly mend: string;
}

const isOpen = ({ mode }: Entry): boolean => (mode & OTHERS) !== 0;

const entryOf = async (path: string): Promise<Entry | undefined> => {
  const found = await stat(path).catch(() => undefined);
  return found && { path, mode: found.mode & 0o777 };
};

const entriesIn = async (directory: string, names: readonly string[]): Promise<readonly Entry[]> =>
  (await Promise.all(names.map((name) => entryOf(join(directory, name))))).filter((one) => one !== undefined);

const isLink = async (path: string): Promise<boolean> =>
  (await lstat(path).catch(() => undefined))?.isSymbolicLink() ?? false;

/** What a link leads to is somebody else's. */
const below = async (directory: string): Promise<readonly Entry[]> =>
  (await isLink(directory))
    ? []
    : entriesIn(directory, await readdir(directory, { recursive: true }).catch(() => []));

/** Open things in it belong to others as well, and they need their way to them. */
const firstForeign = async (entries: readonly Entry[]): Promise<string | undefined> => {
  for (const { path } of entries.filter(isOpen)) if (!(await isLink(path))) return path;
  return undefined;
};

/**
 * What other users of the machine could read of a directory. Undefined without the directory, or where modes do not protect.
 * @param isOwn whether something of this name in the directory is the service's
 */
export const exposedFiles = async (
  path: string,
  isOwn: (name: string) => boolean,
): Promise<ExposedFiles | undefined> => {
  const found = process.platform === 'win32' ? undefined : await stat(path).catch(() => undefined);
  if (!found?.isDirectory()) return undefined;
  const directory = { path, mode: found.mode & 0o777 };
  const names = await readdir(path).catch(() => []);
  const own = await entriesIn(path, names.filter(isOwn));
  const deep = isOpen(directory) ? await Promise.all(own.map((one) => below(one.path))) : [];
  const worst = [directory, ...own.filter((one) => KEY_FILE.test(one.path))].find(isOpen);
  const foreign = await firstForeign(
    await entriesIn(
      path,
      names.filter((name) => !isOwn(name)),
    ),
  );
  return {
    worst: worst && `${worst.path} (mode 0${worst.mode.toString(8)})`,
    open: [...(foreign === undefined ? [directory] : []), ...own, ...deep.flat()].filter(isOpen),
    foreign,
    mend:
      foreign === undefined
        ? `run chmod -R go= ${path}`
        : `${foreign} is none of the service's, so name a directory of its own`,
  };
};

/** What a link leads to is somebody else's, unless it is a key. */
const mayBeClosed = async (directory: string, path: string): Promise<boolean> =>
  path === directory || KEY_FILE.test(path) || !(await isLink(path));

/** Takes the rights of other users away. @returns whether the directory is private now */
export const closeToOthers = async (path: string, { open }: ExposedFiles): Promise<boolean> => {
  for (const entry of open)
    if (await mayBeClosed(path, entry.path))
      await chmod(entry.path, entry.mode & ~OTHERS).catch(() => undefined);
  const directory = await entryOf(path);
  return directory === undefined || !isOpen(directory);
};
