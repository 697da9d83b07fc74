import { OutcomeUnknownError, StoreUnavailableError } from '../../application/ports/event-store.ts';
import { BatchFailure } from '../postgres/batch.ts';
import { isConstraint, isUnavailable } from '../postgres/failures.ts';
import { ConstraintError, GuardFailedError } from './sql-database.ts';

/** What text no integer is, and which PostgreSQL quotes in its refusal whatever the language of its messages. */
const MARK = 'rows:';
const REFUSED = /"rows:(\d+)"/;
const INVALID_TEXT = '22P02';

const ANSWERS_ROWS = /\sreturning\s[^)]*$/i;
export const answersRows = (text: string): boolean => ANSWERS_ROWS.test(text);

/**
 * The same statement, refused by the server itself when it changes another number of rows: COMMIT can so travel along with it.
 * The limit is evaluated once, before the first row, even if there is none.
 */
export const guarded = (text: string, changes: number): string => {
  const statement = answersRows(text) ? text : `${text} returning 1`;
  const count = `select case when count(*) = ${changes} then null else cast('${MARK}' || count(*) as bigint) end`;
  return `with guarded as (${statement}) select * from guarded limit (${count} from guarded)`;
};

/** The error as what it means, if it is the refusal of a guard. */
const guardFailure = (
  { code, message }: { readonly code?: string | undefined; readonly message: string },
  index: number,
): GuardFailedError | undefined => {
  const changes = code === INVALID_TEXT ? REFUSED.exec(message)?.[1] : undefined;
  return changes === undefined ? undefined : new GuardFailedError(index, Number(changes));
};

const describe = (failure: BatchFailure): string =>
  `PostgreSQL: ${failure.message}${failure.code === undefined ? '' : ` (${failure.code})`}`;

const refusal = (failure: BatchFailure): Error => {
  const { code = '' } = failure;
  const text = describe(failure);
  if (isConstraint(code)) return new ConstraintError(text);
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
