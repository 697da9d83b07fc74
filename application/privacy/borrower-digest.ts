import type { BorrowerVault } from '../ports/borrower-vault.ts';

/** One spelling a document: `529.982.247-25` and `52998224725` are the same. */
export const bareDocument = (documentNumber: string): string =>
  documentNumber.replaceAll(/[.\-/\s]/g, '').toUpperCase();

const DOCUMENT = /^(\d{11}|[0-9A-Z]{12}\d{2})$/;

/** Whether a text without punctuation has the form of a CPF or a CNPJ. */
export const isDocument = (bare: string): boolean => DOCUMENT.test(bare);

/** What the borrower index knows a borrower by. */
export const borrowerDigest = (vault: Pick<BorrowerVault, 'digest'>, documentNumber: string): string =>
  vault.digest(`borrower ${bareDocument(documentNumber)}`);
