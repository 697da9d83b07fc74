import { SqlWrappedTexts } from '../coordination/wrapped-texts.ts';
import type { WrappedTexts } from '../coordination/wrapped-texts.ts';
import type { SqlDatabase } from '../sql/sql-database.ts';

export const secretContext = (webhookId: string): string => `webhook-secret:${webhookId}`;

export const webhookSecrets = (database: SqlDatabase): WrappedTexts =>
  new SqlWrappedTexts(database, {
    table: 'webhook_subscription',
    name: 'webhook_id',
    wrapped: 'sealed_secret',
  });
