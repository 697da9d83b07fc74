import { SqlConsumerOffsets } from '../../infrastructure/sql/consumer-offsets.ts';
import type { SqlDatabase } from '../../infrastructure/sql/sql-database.ts';
import { SqlDeliveryLog } from '../../infrastructure/sql/webhooks/delivery-log.ts';
import { SqlDeliveryQueue } from '../../infrastructure/sql/webhooks/delivery-queue.ts';
import { SqlWebhookSubscriptions } from '../../infrastructure/sql/webhooks/subscriptions.ts';
import { ManualClock } from '../support/manual-clock.ts';
import type { OffsetsUnderTest } from './consumer-offsets-contract.ts';

/** The offsets and the effects that they are stored with, over one database. */
export const offsetsOver = (database: SqlDatabase): OffsetsUnderTest => ({
  offsets: new SqlConsumerOffsets(database, new ManualClock()),
  queue: new SqlDeliveryQueue(database),
  log: new SqlDeliveryLog(database),
  subscriptions: new SqlWebhookSubscriptions(database),
});
