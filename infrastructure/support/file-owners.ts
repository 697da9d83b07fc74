import { closeSync, existsSync, lchownSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

const isRoot = (): boolean => process.getuid?.() === 0;

/** What root makes in a directory of the service's user is that user's, who could not open it otherwise. */
export const giveToOwner = (path: string): void => {
  if (!isRoot()) return;
  const { uid, gid } = statSync(dirname(path));
  lchownSync(path, uid, gid);
};

/**
 * The same before a new file is made: SQLite gives what it makes beside a database to whoever has that. One that is there is not even
 * opened, because closing it would end the locks that this process has on it.
 */
export const makeForOwner = (path: string): void => {
  if (!isRoot() || existsSync(path)) return;
  closeSync(openSync(path, 'a', 0o600));
  giveToOwner(path);
};
