import { SqlWrappedTexts } from '../coordination/wrapped-texts.ts';
import type { WrappedTexts } from '../coordination/wrapped-texts.ts';
import type { SqlDatabase } from '../sql/sql-database.ts';

/** What the tokens of a session are sealed for. */
export const tokensContext = (sessionId: string): string => `desk-session:${sessionId}`;

/** What sessions keep of the provider, by the id of the session. */
export const sessionTokens = (database: SqlDatabase): WrappedTexts =>
  new SqlWrappedTexts(database, { table: 'desk_session', name: 'id', wrapped: 'sealed_tokens' });
