import { loansOf } from '../../application/loans/loans.ts';

type Parts = Parameters<typeof loansOf>[0];
type SomeParts = Partial<Omit<Parts, 'documents'>> & { readonly documents?: Partial<Parts['documents']> };

/** Operations as requests change them; of what a test does not hand over nothing is asked. */
export const loansOver = (parts: SomeParts) => loansOf(parts as Parts);
