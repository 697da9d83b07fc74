import { afterAll, beforeAll, describe, test } from '@jest/globals';
import type { SqlDatabase } from '../../application/sql/sql-database.ts';
import { FundUnderTest } from './fund-side-samples.ts';
import { portfolioCases } from './portfolio-cases.ts';
import { reconciliationCases } from './reconciliation-cases.ts';

/** Registers every promise of the fund's readers as a test of this engine. */
export const describeFundSideContract = (
  engine: string,
  open: () => Promise<{ readonly database: SqlDatabase; close(): Promise<void> }>,
): void => {
  describe(`the fund's read models on ${engine}`, () => {
    let fixture: Awaited<ReturnType<typeof open>>;
    beforeAll(async () => {
      fixture = await open();
    });
    afterAll(() => fixture.close());
    test.each([...portfolioCases, ...reconciliationCases])('$name', ({ check }) =>
      check(new FundUnderTest(fixture.database)),
    );
  });
};
