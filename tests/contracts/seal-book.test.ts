import { SqlSealBook } from '../../infrastructure/sql/seal-book.ts';
import { openServiceDatabase } from '../infrastructure/sql/support/temporary-database.ts';
import { describeSealBookContract } from './seal-book-contract.ts';

describeSealBookContract('SqlSealBook on SQLite', async () => {
  const { database, close } = await openServiceDatabase();
  return { book: new SqlSealBook(database), close };
});
