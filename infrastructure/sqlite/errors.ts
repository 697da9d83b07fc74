// Primary result codes of sqlite.org/rescode.html.
export const SQLITE_BUSY = 5;
const SQLITE_LOCKED = 6;
export const SQLITE_FULL = 13;
export const SQLITE_TOOBIG = 18;
export const SQLITE_CONSTRAINT = 19;
/** PERM, BUSY, LOCKED, NOMEM, READONLY, INTERRUPT, IOERR, CORRUPT, FULL, CANTOPEN, PROTOCOL, NOLFS, NOTADB */
const UNAVAILABLE = new Set([3, SQLITE_BUSY, SQLITE_LOCKED, 7, 8, 9, 10, 11, SQLITE_FULL, 14, 15, 22, 26]);

/** SQLite's primary result code; undefined for any other error. */
export const sqliteCode = (error: unknown): number | undefined => {
  const code = (error as { errcode?: unknown } | null)?.errcode;
  return typeof code === 'number' ? code & 0xff : undefined;
};

export const isBusy = (error: unknown): boolean => {
  const code = sqliteCode(error);
  return code === SQLITE_BUSY || code === SQLITE_LOCKED;
};

/** The file is locked, full, damaged or out of reach: the statement itself is not to blame. */
export const isUnavailable = (error: unknown): boolean => {
  const code = sqliteCode(error);
  return code !== undefined && UNAVAILABLE.has(code);
};
