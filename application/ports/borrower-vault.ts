import type { SealedBorrower } from '../../domain/shared/identifiers.ts';
import type { PrivateName, PrivateText, Sealed } from '../../domain/shared/private-text.ts';

interface Address {
  readonly zip_code: string;
  readonly street: string;
  readonly number: string;
  readonly neighborhood?: string;
  readonly city: string;
  readonly state: string;
}
export interface Borrower {
  readonly document_number: string;
  readonly document_type: 'CPF' | 'CNPJ';
  readonly name: string;
  readonly birth_date?: string;
  readonly email?: string;
  readonly phone?: string;
  readonly address: Address;
}

/** The text was changed, belongs to another context, or was sealed with another key. */
export class BrokenSealError extends Error {
  override readonly name = 'BrokenSealError';
}

/**
 * Personal data, sealed with a key of its operation (AES-256-GCM), so that forgetting a borrower is deleting that key.
 * The key is durable before `seal` resolves. What only the key could do is `undefined` once it was deleted;
 * @throws KeyMissingError where the log holds no record that the borrower was forgotten: the key was lost
 */
export interface BorrowerVault {
  seal(stream: string, borrower: Borrower): Promise<SealedBorrower>;
  /** `undefined` once the key was deleted. @throws BrokenSealError */
  open(stream: string, sealed: SealedBorrower): Promise<Borrower | undefined>;
  /** The same, where a key that is lost is no fault. */
  peek(stream: string, sealed: SealedBorrower): Promise<Borrower | undefined>;
  /** With the key of its borrower; undefined once that was deleted. Plain while processes may run that cannot open it. */
  sealText(stream: string, text: string): Promise<PrivateText | undefined>;
  /** The same for the names of documents, in their order. */
  sealNames(stream: string, names: readonly string[]): Promise<readonly PrivateName[] | undefined>;
  /** In their order; undefined where the key was deleted. @throws BrokenSealError */
  openTexts(stream: string, texts: readonly Sealed[]): Promise<readonly (string | undefined)[]>;
  /** Keyed digest (hexadecimal) of canonical text: equal texts give equal digests, and without the service's key they cannot be guessed. */
  digest(text: string): string;
}
