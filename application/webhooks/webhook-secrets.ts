import { SqlWrappedTexts } from '../coordination/wrapped-texts.ts';
import type { WrappedTexts } from '../coordination/wrapped-texts.ts';
import type { SqlDatabase } from '../sql/sql-database.ts';

/** What a signing secret is sealed for. */
export const secretContext = (webhookId: string): string => `webhook-secret:${webhookId}`;

/** Signing secrets of subscriptions, by webhook id. Those of removed ones are gone already. */
export const webhookSecrets = (database: SqlDatabase): WrappedTexts =>
  new SqlWrappedTexts(database, {
    table: 'webhook_subscription',
    name: 'webhook_id',
    wrapped: 'sealed_secret',
  });
