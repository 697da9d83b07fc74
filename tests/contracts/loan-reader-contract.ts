import { loanListCases } from './loan-reader-list-cases.ts';
import { loanFindCases } from './loan-reader-find-cases.ts';
import type { LoanReaderUnderTest } from './loan-reader-samples.ts';
import type { Promised } from './promises.ts';

export const loanReaderCases: readonly Promised<LoanReaderUnderTest>[] = [...loanFindCases, ...loanListCases];
