import { GuardFailedError } from '../sql-database.ts';

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
export const guardFailure = (
  { code, message }: { readonly code?: string | undefined; readonly message: string },
  index: number,
): GuardFailedError | undefined => {
  const changes = code === INVALID_TEXT ? REFUSED.exec(message)?.[1] : undefined;
  return changes === undefined ? undefined : new GuardFailedError(index, Number(changes));
};
