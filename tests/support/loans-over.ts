import type { AskedAssignment } from '../../application/loans/assign-loan.ts';
import { loansOf } from '../../application/loans/loans.ts';
import type { FundId, LoanCode } from '../../domain/shared/identifiers.ts';
import { receiveL1 } from '../domain/support/loan-story.ts';
import { FUND } from './application-parts.ts';

type Parts = Parameters<typeof loansOf>[0];
type SomeParts = Partial<Omit<Parts, 'documents'>> & { readonly documents?: Partial<Parts['documents']> };

/** Operations as requests change them; of what a test does not hand over nothing is asked. */
export const loansOver = (parts: SomeParts) => loansOf(parts as Parts);

/** Of L1, with its one document and whatever file a test calls so. */
export const assignmentOf = (
  file: AskedAssignment['files'][number],
  changes: Partial<AskedAssignment> = {},
): AskedAssignment => ({
  fundId: FUND as FundId,
  code: 'L1' as LoanCode,
  productType: 'financing',
  acquisitionValue: receiveL1.acquisitionValue,
  dateIssued: receiveL1.dateIssued,
  borrower: {
    document_number: '52998224725',
    document_type: 'CPF',
    name: 'Ana',
    birth_date: '1990-01-01',
    address: { zip_code: '01310100', street: 'A', number: '1', city: 'Sao Paulo', state: 'SP' },
  },
  installments: receiveL1.installments,
  documents: [{ type: 'ccb', value: 'ccb.pdf' }],
  files: [file],
  ...changes,
});
