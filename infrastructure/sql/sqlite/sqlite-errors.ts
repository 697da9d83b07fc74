import type { Failure } from './messages.ts';

// Primary result codes of sqlite.org/rescode.html.
const BUSY = 5;
const LOCKED = 6;
const CONSTRAINT = 19;
/** PERM, BUSY, LOCKED, NOMEM, READONLY, INTERRUPT, IOERR, CORRUPT, FULL, CANTOPEN, PROTOCOL, NOLFS, NOTADB */
const UNAVAILABLE = new Set([3, BUSY, LOCKED, 7, 8, 9, 10, 11, 13, 14, 15, 22, 26]);

const primaryCode = (error: unknown): number | undefined => {
  const code = (error as { errcode?: unknown } | null)?.errcode;
  return typeof code === 'number' ? code & 0xff : undefined;
};

export const isBusy = (error: unknown): boolean => {
  const code = primaryCode(error);
  return code === BUSY || code === LOCKED;
};

export const failureOf = (error: unknown): Failure => {
  const message = error instanceof Error ? error.message : String(error);
  const code = primaryCode(error);
  if (code === CONSTRAINT) return { kind: 'constraint', message };
  return { kind: code !== undefined && UNAVAILABLE.has(code) ? 'unavailable' : 'error', message };
};
