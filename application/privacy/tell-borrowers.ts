import type { SealedBorrower } from '../../domain/shared/identifiers.ts';
import type { BorrowerVault } from '../ports/borrower-vault.ts';
import type { SqlBorrowerIndex } from './borrower-index.ts';
import { borrowerDigest } from './forget-borrower.ts';
import { unlessKeyMissing } from './missing-keys.ts';

interface Dependencies {
  readonly index: Pick<SqlBorrowerIndex, 'entriesOf'>;
  readonly vault: Pick<BorrowerVault, 'open' | 'digest'>;
}

/** An operation's sealed borrower; empty once it was forgotten. */
export interface HeldData {
  readonly stream: string;
  readonly borrower: string;
}

/**
 * Tells the borrowers of operations apart; who they are is not read for it.
 * @param operations at most 1,000
 */
export const tellBorrowers = async (
  { index, vault }: Dependencies,
  operations: readonly HeldData[],
): Promise<ReadonlyMap<string, string>> => {
  const known = operations.filter(({ borrower }) => borrower !== '');
  const entries = await index.entriesOf(known.map(({ stream }) => stream));
  const digests = Map.groupBy(entries, ({ stream }) => stream);
  const told = new Map<string, string>();
  for (const held of known) {
    const [entry, ...others] = digests.get(held.stream) ?? [];
    const digest = others.length === 0 ? entry?.digest : await digestIn(vault, held);
    if (digest !== undefined) told.set(held.stream, digest);
  }
  return told;
};

/** Attempts that were refused leave entries of other borrowers; what the operation was received with says whose it is. */
const digestIn = async (
  vault: Dependencies['vault'],
  { stream, borrower: sealed }: HeldData,
): Promise<string | undefined> => {
  const borrower = await unlessKeyMissing(() => vault.open(stream, sealed as SealedBorrower), undefined);
  return borrower && borrowerDigest(vault, borrower.document_number);
};
