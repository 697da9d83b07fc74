import type { WebhookTables } from './webhooks/tables.ts';
import type { CoreTables } from './tables.ts';

/** Every table of the SQL store, as Kysely sees it. */
export type Schema = CoreTables & WebhookTables;
