import { existsSync, readdirSync } from 'node:fs';
import type { Dirent } from 'node:fs';
import { access, constants, readdir, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isNativeError } from 'node:util/types';
import { RESTORE_DRAFT } from '../embedded/backup/restore-backup.ts';
import { holdsEvents } from '../embedded/backup/databases.ts';
import { EVENT_LOG_FILE } from '../sqlite/event-log/event-log-threads.ts';
import { ifThere } from '../support/durable-files.ts';
import type { Configuration } from './configuration.ts';
import { ConfigurationError } from './environment-reader.ts';

/** In DATA_DIR: what cannot be rebuilt beside the events. */
export const SERVICE_FILE = 'service.db';

export const RESTORE = 'restore a backup into an empty directory with `receivables restore`';

type Place = Pick<Configuration, 'dataDir' | 'engines'>;

const namesIn = (directory: string): readonly string[] => {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
};

/** What only a service that was ready has left: the first of it, for a message. */
const tracesOfUse = (dataDir: string): string | undefined => {
  const readModel = namesIn(dataDir).find((name) => /^read-model(-\d+)?\.db$/.test(name));
  const documents = namesIn(join(dataDir, 'documents')).some((name) => !name.startsWith('.'));
  return readModel ?? (documents ? 'documents' : undefined);
};

const missing = (dataDir: string, file: string, beside: string): string =>
  `${join(dataDir, file)} is missing beside ${beside}: put it back, or ${RESTORE}`;

/**
 * The part of an embedded service that was there and is gone, with what to do about it; undefined for a whole directory and for one in
 * which no service has ever been ready: its first start makes the event log, then the service's database, then everything else.
 */
export const missingPart = ({ dataDir, engines }: Place): string | undefined => {
  if (engines.eventStoreUrl !== undefined || engines.databaseUrl !== undefined) return undefined;
  const [log, service] = [EVENT_LOG_FILE, SERVICE_FILE].map((file) => existsSync(join(dataDir, file)));
  if (log && service) return undefined;
  if (existsSync(join(dataDir, RESTORE_DRAFT)))
    return `${dataDir} holds a restore that was interrupted: run \`receivables restore\` again`;
  if (service) return missing(dataDir, EVENT_LOG_FILE, SERVICE_FILE);
  if (log && holdsEvents(join(dataDir, EVENT_LOG_FILE)))
    return missing(dataDir, SERVICE_FILE, EVENT_LOG_FILE);
  const trace = tracesOfUse(dataDir);
  return trace === undefined ? undefined : missing(dataDir, log ? SERVICE_FILE : EVENT_LOG_FILE, trace);
};

/** @throws ConfigurationError */
export const refuseMissingPart = (place: Place): void => {
  const part = missingPart(place);
  if (part !== undefined) throw new ConfigurationError(part);
};

const REASONS: Readonly<Record<string, string>> = {
  EROFS: 'is on a file system that is read-only: mount it writable, or name another directory',
  ENOSPC: 'has no room left: make room on its disk',
  EDQUOT: 'has no room left: raise the quota',
  EMFILE: 'cannot be opened, too many files are: raise the limit with ulimit -n',
  ENFILE: 'cannot be opened, the machine has too many files open',
  ENOENT: 'leads nowhere: mount what its link names, or name another',
  ENOTDIR: 'lies below a file: name a directory',
  EEXIST: 'is no directory: name one',
  ENAMETOOLONG: 'has a name that is too long: name a shorter one',
  EIO: 'cannot be read or written: look at the disk',
};

const userOf = (): string => (process.getuid ? ` (uid ${process.getuid()})` : '');

/** What the operating system says about a file of the data directory, in one line with what to do. */
export const troubleWith = ({ code = '', message, path, syscall }: NodeJS.ErrnoException): string => {
  const refused =
    syscall === 'mkdir'
      ? `cannot be made by the user of this process${userOf()}: make it for that user, or name another`
      : `may not be used by the user of this process${userOf()}: run it as the owner, or give it to that user, with chown and chmod`;
  const known = code === 'EACCES' || code === 'EPERM' ? refused : REASONS[code];
  return `DATA_DIR cannot be used: ${known === undefined ? message : `${path} ${known}`}`;
};

const OWN =
  /^((events|service|service-lock|in-use|rotating|read-model(-\d+)?)\.db(-wal|-shm|-journal)?|service\.pid|moved\.json(\.draft)?|documents|uploads|administrator-decisions\.dead-letter\.jsonl|\.restoring.*|.+\.key(\..+)?)$/;

/** Whether something of this name in DATA_DIR is the service's, or a key. */
export const isOfService = (name: string): boolean => OWN.test(name);

const { R_OK, W_OK, X_OK } = constants;
/** Files that are written in place; a key is only read. */
const WRITTEN = /\.(db|db-wal|db-shm|pid|jsonl)$/;
const READ = /^(master\.key(\.previous)?|moved\.json)$/;

const rightsTo = (name: string, isDirectory: boolean): number | undefined => {
  if (isDirectory) return R_OK | W_OK | X_OK;
  if (WRITTEN.test(name)) return R_OK | W_OK;
  return READ.test(name) ? R_OK : undefined;
};

const DIRECTORY = /^(documents|uploads)$/;

/** A directory stands where a file belongs, or a file where a directory does: what to do about it. */
const misplaced = (entry: Dirent): string | undefined => {
  const { name } = entry;
  if (entry.isDirectory() && (WRITTEN.test(name) || READ.test(name)))
    return 'is a directory: move it away, and put the file back that belongs there';
  return entry.isFile() && DIRECTORY.test(name)
    ? 'is a file: move it away, and put the directory back that belongs there'
    : undefined;
};

/** In bytes, links resolved: SQLite opens no file whose path is longer than 504, and ours have names of up to 23. */
const LONGEST_PATH = 480;

/**
 * Looks whether this user may use the directory and what the service keeps in it, before anything is opened.
 * @throws ConfigurationError naming the first path that cannot be used
 */
export const ensureUsable = async (dataDir: string): Promise<void> => {
  try {
    if (!(await stat(dataDir)).isDirectory())
      throw new ConfigurationError(`DATA_DIR cannot be used: ${dataDir} is no directory: name one`);
    if (Buffer.byteLength(await realpath(dataDir)) > LONGEST_PATH)
      throw new ConfigurationError(
        `DATA_DIR cannot be used: its path is longer than ${LONGEST_PATH} bytes: name a shorter one`,
      );
    await access(dataDir, R_OK | W_OK | X_OK);
    for (const entry of await readdir(dataDir, { withFileTypes: true })) {
      const wrong = misplaced(entry);
      if (wrong !== undefined)
        throw new ConfigurationError(`DATA_DIR cannot be used: ${join(dataDir, entry.name)} ${wrong}`);
      const rights = rightsTo(entry.name, entry.isDirectory());
      // Another process may have removed it since, as it does with a -shm when it is the last to close the file.
      if (rights !== undefined) await ifThere(access(join(dataDir, entry.name), rights));
    }
  } catch (error) {
    if (!isNativeError(error) || !('code' in error)) throw error;
    throw new ConfigurationError(troubleWith(error as NodeJS.ErrnoException), { cause: error });
  }
};
