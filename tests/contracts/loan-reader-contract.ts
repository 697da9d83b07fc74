import { afterAll, beforeAll, describe, test } from '@jest/globals';
import { loanListCases } from './loan-reader-list-cases.ts';
import { loanFindCases } from './loan-reader-find-cases.ts';
import type { LoanReaderCase, LoanReaderUnderTest } from './loan-reader-samples.ts';

export const loanReaderCases: readonly LoanReaderCase[] = [...loanFindCases, ...loanListCases];

/** Registers every promise of the port as a test of this adapter; there is no way to leave one out. */
export const describeLoanReaderContract = (
  adapter: string,
  open: () => Promise<LoanReaderUnderTest & { close(): Promise<void> }>,
): void => {
  describe(`${adapter} keeps the promises of the loan reader`, () => {
    let fixture: Awaited<ReturnType<typeof open>>;
    beforeAll(async () => {
      fixture = await open();
    });
    afterAll(() => fixture.close());
    test.each(loanReaderCases)('$name', ({ check }) => check(fixture));
  });
};
