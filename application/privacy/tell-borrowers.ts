import type { SealedBorrower } from '../../domain/shared/identifiers.ts';
import type { BorrowerIndex, BorrowerVault } from '../ports/borrower-vault.ts';
import type { Standing } from '../ports/fund-reports.ts';
import { borrowerDigest } from './forget-borrower.ts';
import { KeyMissingError } from './missing-keys.ts';

interface Dependencies {
  readonly index: Pick<BorrowerIndex, 'entriesOf'>;
  readonly vault: Pick<BorrowerVault, 'open' | 'digest'>;
}

/** Tells the borrowers of operations apart; who they are is not read for it. */
export class TellBorrowers {
  readonly #deps: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#deps = dependencies;
  }

  /**
   * A digest for each stream, the same for the same borrower. None for one whose borrower was forgotten.
   * @param operations at most 1,000
   */
  async of(
    operations: readonly Pick<Standing, 'stream' | 'borrower'>[],
  ): Promise<ReadonlyMap<string, string>> {
    const known = operations.filter(({ borrower }) => borrower !== '');
    const entries = await this.#deps.index.entriesOf(known.map(({ stream }) => stream));
    const digests = Map.groupBy(entries, ({ stream }) => stream);
    const told = new Map<string, string>();
    for (const { stream, borrower } of known) {
      const [entry, ...others] = digests.get(stream) ?? [];
      const digest = others.length === 0 ? entry?.digest : await this.#read(stream, borrower);
      if (digest !== undefined) told.set(stream, digest);
    }
    return told;
  }

  /** Attempts that were refused leave entries of other borrowers; what the operation was received with says whose it is. */
  async #read(stream: string, sealed: string): Promise<string | undefined> {
    const { vault } = this.#deps;
    try {
      const borrower = await vault.open(stream, sealed as SealedBorrower);
      return borrower && borrowerDigest(vault, borrower.document_number);
    } catch (error) {
      if (error instanceof KeyMissingError) return undefined;
      throw error;
    }
  }
}
