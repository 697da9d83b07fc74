import { ConsumerOffsets } from '../../application/processors/consumer-offsets.ts';
import type { SqlDatabase } from '../../application/sql/sql-database.ts';
import { DeliveryLag } from '../../application/webhooks/delivery-lag.ts';
import { DeliveryLog } from '../../application/webhooks/delivery-log.ts';
import { DeliveryQueue } from '../../application/webhooks/queue/delivery-queue.ts';
import { WebhookSubscriptions } from '../../application/webhooks/subscriptions.ts';
import { ManualClock } from '../support/manual-clock.ts';
import type { OffsetsUnderTest } from './consumer-offsets-contract.ts';

/** The offsets and the effects that they are stored with, over one database. */
export const offsetsOver = (database: SqlDatabase): OffsetsUnderTest => ({
  offsets: new ConsumerOffsets(database, new ManualClock()),
  queue: new DeliveryQueue(database),
  log: new DeliveryLog(database),
  lag: new DeliveryLag(database),
  subscriptions: new WebhookSubscriptions(database),
});
