import { maskDocument } from '../../../application/loans/loan-details.ts';
import type { BorrowerVault } from '../../../application/ports/borrower-vault.ts';
import type { FoundOperation } from '../../../application/ports/operation-search.ts';
import { KeyMissingError } from '../../../application/privacy/missing-keys.ts';
import type { SealedBorrower } from '../../../domain/shared/identifiers.ts';

/** The masked document of an operation's borrower; null once it was forgotten, or where its key is missing. */
export const maskedBorrower =
  (vault: Pick<BorrowerVault, 'open'>) =>
  async ({ stream, borrower }: Pick<FoundOperation, 'stream' | 'borrower'>): Promise<string | null> => {
    try {
      const opened = await vault.open(stream, borrower as SealedBorrower);
      return opened ? maskDocument(opened.document_number) : null;
    } catch (error) {
      if (error instanceof KeyMissingError) return null;
      throw error;
    }
  };
