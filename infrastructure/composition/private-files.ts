import { chmod, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from '../../application/ports/logger.ts';
import type { Configuration } from './configuration.ts';
import { ConfigurationError } from './environment-reader.ts';
import { isAllowed } from './insecurities.ts';

/** Whatever a process makes, its child processes included, is its owner's alone. */
export const PRIVATE_UMASK = 0o077;
const OTHERS = 0o077;
const KEY_FILE = /\.key$/;

interface Entry {
  readonly path: string;
  readonly mode: number;
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

/** What others could read: the directory itself or a key in it. Undefined when nothing is open, or modes say nothing here. */
export const openFile = async (dataDir: string): Promise<string | undefined> => {
  const directory = process.platform === 'win32' ? undefined : await entryOf(dataDir);
  if (!directory) return undefined;
  const entries = await entriesIn(dataDir, isOpen(directory));
  const told = [directory, ...entries.filter(({ path }) => KEY_FILE.test(path))].find(isOpen);
  return told && `${told.path} (mode 0${told.mode.toString(8)})`;
};

/**
 * Keeps the data directory from everybody but its owner. Where others could read it or a key in it, production refuses to start,
 * because what they read meanwhile cannot be taken back; a sandbox is mended.
 * @throws ConfigurationError
 */
export const keepPrivate = async (
  configuration: Pick<Configuration, 'dataDir' | 'environment' | 'allowInsecure'>,
  logger: Logger,
): Promise<void> => {
  const { dataDir, environment, allowInsecure } = configuration;
  const directory = process.platform === 'win32' ? undefined : await entryOf(dataDir);
  if (!directory || allowInsecure.includes('files')) return;
  const entries = await entriesIn(dataDir, isOpen(directory));
  const told = [directory, ...entries.filter(({ path }) => KEY_FILE.test(path))].find(isOpen);
  if (told && !isAllowed({ environment, allowInsecure }, 'files')) {
    throw new ConfigurationError(
      `DATA_DIR lets others read ${told.path} (mode 0${told.mode.toString(8)}): run chmod -R go= ${dataDir}, or name files in ALLOW_INSECURE`,
    );
  }
  const open = [directory, ...entries].filter(isOpen);
  for (const { path, mode } of open) await chmod(path, mode & ~OTHERS).catch(() => undefined);
  if (!told) return;
  const still = await entryOf(dataDir);
  if (still && isOpen(still))
    logger.warn({ dataDir }, 'others can read DATA_DIR, and its modes cannot be changed');
  else logger.info({ dataDir, files: open.length }, 'others could read DATA_DIR; now its owner alone can');
};
