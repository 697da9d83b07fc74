import { ConsumerOffsets } from '../../application/processors/consumer-offsets.ts';
import type { SqlDatabase } from '../../application/sql/sql-database.ts';
import { ManualClock } from '../support/manual-clock.ts';
import type { OffsetsUnderTest } from './consumer-offsets-contract.ts';
import { queueOn } from './delivery-queue-samples.ts';

/** The offsets and the effects that they are stored with, over one database. */
export const offsetsOver = (database: SqlDatabase): OffsetsUnderTest => ({
  offsets: new ConsumerOffsets(database, new ManualClock()),
  ...queueOn(database),
});
