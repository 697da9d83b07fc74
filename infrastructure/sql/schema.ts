import type { ConsumerTables } from './consumer-tables.ts';
import type { CoordinationTables } from './coordination-tables.ts';
import type { FundSideTables } from './fund-side-tables.ts';
import type { MovingTables } from './moving/tables.ts';
import type { PrivacyTables } from './privacy-tables.ts';
import type { SealTables } from './seal-tables.ts';
import type { WebhookTables } from './webhooks/tables.ts';
import type { CoreTables } from './tables.ts';

/** Every table of the SQL store, as Kysely sees it. */
export type Schema = CoreTables &
  ConsumerTables &
  CoordinationTables &
  FundSideTables &
  MovingTables &
  PrivacyTables &
  SealTables &
  WebhookTables;
