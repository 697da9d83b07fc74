import { SqlClockOffset } from '../../infrastructure/sql/clock-offset.ts';
import { openServiceDatabase } from '../infrastructure/sql/support/temporary-database.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { describeClockOffsetContract } from './clock-offset-contract.ts';

describeClockOffsetContract('SqlClockOffset on SQLite', async () => {
  const { database, close } = await openServiceDatabase();
  const view = (): SqlClockOffset => new SqlClockOffset(database, new ManualClock());
  return { views: [view(), view()], close };
});
