import { loanListCases } from './loan-reader-list-cases.ts';
import { loanFindCases } from './loan-reader-find-cases.ts';
import type { LoanReaderCase } from './loan-reader-samples.ts';

export const loanReaderCases: readonly LoanReaderCase[] = [...loanFindCases, ...loanListCases];
