import { SqlBorrowerIndex } from '../../infrastructure/sql/borrower-index.ts';
import { openServiceDatabase } from '../infrastructure/sql/support/temporary-database.ts';
import { describeBorrowerIndexContract } from './borrower-index-contract.ts';

describeBorrowerIndexContract('SqlBorrowerIndex on SQLite', async () => {
  const { database, close } = await openServiceDatabase();
  return { index: new SqlBorrowerIndex(database), close };
});
