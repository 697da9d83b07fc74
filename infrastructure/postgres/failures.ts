import { BatchFailure } from './batch.ts';

// Classes and codes of postgresql.org/docs/current/errcodes-appendix.html.
const CONSTRAINT_CLASS = '23';
/** Connection, resources, operator, system; the configuration file; a damaged page or index. */
const UNAVAILABLE_CLASSES = new Set(['08', '53', '57', '58', 'F0']);
const UNAVAILABLE = new Set(['25006', '25P03', '55P03', 'XX001', 'XX002']);
/** The server takes no writes any more: another has taken over, or is about to. */
const READ_ONLY = '25006';
/** A lock that was waited for briefly on purpose. */
const LOCKED = '55P03';
/** One of several that got in each other's way. */
const CROSSED = new Set(['40001', '40P01']);
/** What the connection had prepared does not fit the tables any more, or is gone. */
const STALE = new Set(['0A000', '26000', '42P05']);

/** Nothing was stored, and the same batch may well succeed at once. */
export const isWorthRepeating = (failure: unknown): boolean =>
  failure instanceof BatchFailure &&
  failure.code !== undefined &&
  (CROSSED.has(failure.code) || STALE.has(failure.code) || [READ_ONLY, LOCKED].includes(failure.code));

/** Other connections may have prepared the same before: it has to be parsed anew. */
export const isStale = (failure: unknown): boolean =>
  failure instanceof BatchFailure && STALE.has(failure.code ?? '');

export const isReadOnly = (failure: unknown): boolean =>
  failure instanceof BatchFailure && failure.code === READ_ONLY;

/** Whether the connection may serve others after this. */
export const isSpoilt = (failure: unknown): boolean =>
  failure instanceof BatchFailure &&
  (failure.kind !== 'refused' || failure.fatal || isStale(failure) || isReadOnly(failure));

export const isUnavailable = (code: string): boolean =>
  CROSSED.has(code) || UNAVAILABLE.has(code) || UNAVAILABLE_CLASSES.has(code.slice(0, 2));

export const isConstraint = (code: string): boolean => code.startsWith(CONSTRAINT_CLASS);
