import { afterAll, beforeAll, describe, test } from '@jest/globals';
import { SqlProjectionStore } from '../../../../application/projecting/projection-store.ts';
import type { Row } from '../../../../projections/projection.ts';
import { crashCases } from '../../projecting/crash-cases.ts';
import { emptied } from '../../../support/known-operations.ts';
import { openReadModel, query } from '../../../support/sql/temporary-database.ts';
import type { TemporaryDatabase } from '../../../support/sql/temporary-database.ts';

describe('rows in SQLite are the same', () => {
  let temporary: TemporaryDatabase;
  beforeAll(async () => {
    temporary = await openReadModel();
  });
  afterAll(() => temporary.close());

  test.each(crashCases)('with $name', ({ check }) => {
    const { database } = temporary;
    return check({
      store: new SqlProjectionStore(database),
      rows: (table) => database.read(query<Row>(`select * from ${table}`)),
      empty: (projection) => emptied(database, projection),
    });
  });
});
