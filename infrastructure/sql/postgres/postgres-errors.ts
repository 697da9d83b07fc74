import { OutcomeUnknownError, StoreUnavailableError } from '../../../application/ports/event-store.ts';
import { ConstraintError } from '../sql-database.ts';
import { BatchFailure } from './batch.ts';
import { guardFailure } from './guarded.ts';

// Classes and codes of postgresql.org/docs/current/errcodes-appendix.html.
const CONSTRAINT = '23';
/** Connection, resources, operator, system; the configuration file; a damaged page or index. */
const UNAVAILABLE_CLASSES = new Set(['08', '53', '57', '58', 'F0']);
const UNAVAILABLE = new Set(['25006', '25P03', '55P03', 'XX001', 'XX002']);
/** One of several that got in each other's way. */
const CROSSED = new Set(['40001', '40P01']);
/** What the connection had prepared does not fit the tables any more, or is gone. */
const STALE = new Set(['0A000', '26000', '42P05']);

/** Nothing was stored, and the same batch may well succeed at once. */
export const isWorthRepeating = (failure: unknown): boolean =>
  failure instanceof BatchFailure &&
  failure.code !== undefined &&
  (CROSSED.has(failure.code) || STALE.has(failure.code));

/** Whether the connection may serve others after this. */
export const isSpoilt = (failure: unknown): boolean =>
  failure instanceof BatchFailure &&
  (failure.kind !== 'refused' || failure.fatal || STALE.has(failure.code ?? ''));

const isUnavailable = (code: string): boolean =>
  CROSSED.has(code) || UNAVAILABLE.has(code) || UNAVAILABLE_CLASSES.has(code.slice(0, 2));

const describe = (failure: BatchFailure): string =>
  `PostgreSQL: ${failure.message}${failure.code === undefined ? '' : ` (${failure.code})`}`;

const refusal = (failure: BatchFailure): Error => {
  const { code = '' } = failure;
  const text = describe(failure);
  if (code.startsWith(CONSTRAINT)) return new ConstraintError(text);
  return isUnavailable(code) ? new StoreUnavailableError(text) : new Error(text, { cause: failure.cause });
};

/** A failed read as the port describes it. */
export const readError = (error: unknown): unknown => {
  if (!(error instanceof BatchFailure)) return error;
  return error.kind === 'refused' ? refusal(error) : new StoreUnavailableError(describe(error));
};

/** A failed transaction as the port describes it; `before` statements of the adapter came ahead of the caller's. */
export const writeError = (
  error: unknown,
  { statements, before }: { readonly statements: number; readonly before: number },
): unknown => {
  if (!(error instanceof BatchFailure)) return error;
  if (error.kind === 'unsent') return new StoreUnavailableError(describe(error));
  // Told to go while it committed, a server may have committed.
  const committing = error.index >= before + statements;
  if (error.kind === 'lost' || (error.fatal && committing)) return new OutcomeUnknownError(describe(error));
  return guardFailure(error, error.index - before) ?? refusal(error);
};
