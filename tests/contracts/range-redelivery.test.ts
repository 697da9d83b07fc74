import { openServiceDatabase } from '../support/sql/temporary-database.ts';
import { describeRangeRedeliveryContract, rangesOn } from './range-redelivery-contract.ts';

describeRangeRedeliveryContract('RangeRedeliveries on SQLite', async () => {
  const { database, close } = await openServiceDatabase();
  return { adapter: rangesOn(database), close };
});
