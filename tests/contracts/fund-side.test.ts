import { openReadModel } from '../infrastructure/sql/support/temporary-database.ts';
import { describeFundSideContract } from './fund-side-contract.ts';

describeFundSideContract('SQLite', openReadModel);
