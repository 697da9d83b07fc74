import { SqlOperationStates } from '../../infrastructure/sql/read-models/operation-states.ts';
import { SqlProjectionStore } from '../../infrastructure/sql/read-models/projection-store.ts';
import { openReadModel } from '../infrastructure/sql/support/temporary-database.ts';
import { projectInto } from './loan-reader-samples.ts';
import { describeOperationStatesContract } from './operation-states-contract.ts';

describeOperationStatesContract('SqlOperationStates on SQLite', async () => {
  const { database, close } = await openReadModel();
  return {
    states: new SqlOperationStates(database),
    project: projectInto(new SqlProjectionStore(database)),
    close,
  };
});
