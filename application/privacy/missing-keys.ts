import type { SealedBorrower } from '../../domain/shared/identifiers.ts';
import { borrowerForgotten, loanReceived } from '../event-codec/entries.ts';
import type { Borrower, BorrowerVault } from '../ports/borrower-vault.ts';
import type { EventStore } from '../ports/event-store.ts';

/** The key of an operation is gone, and the log holds no record that its borrower was forgotten: it was lost. */
export class KeyMissingError extends Error {
  override readonly name = 'KeyMissingError';
  readonly stream: string;
  constructor(stream: string) {
    super(
      `key missing: ${stream} has no key operation:${stream} in wrapped_key, and no record that its borrower was forgotten; ` +
        'put the lost keys back from the old primary or from a backup; a key that is in no copy is given up with ' +
        'receivables borrower forget --lost-key (docs/operations.md, KeysMissing)',
    );
    this.stream = stream;
  }
}

interface Dependencies {
  readonly events: Pick<EventStore, 'read'>;
  /** Is told of each operation whose key is lost. Returns at once and never fails. */
  readonly onMissing: (error: KeyMissingError) => void;
}

/**
 * Tells a borrower who was forgotten from one whose key was lost. Forgetting puts an event on record before it deletes the key, so a key
 * that is gone without one is a fault, which must not be answered as if the borrower had been forgotten.
 */
export class RecordedForgetting implements BorrowerVault {
  readonly #vault: BorrowerVault;
  readonly #deps: Dependencies;
  readonly digest: BorrowerVault['digest'];

  constructor(vault: BorrowerVault, dependencies: Dependencies) {
    this.#vault = vault;
    this.digest = vault.digest.bind(vault);
    this.#deps = dependencies;
  }

  seal(stream: string, borrower: Borrower): Promise<SealedBorrower> {
    return this.#vault.seal(stream, borrower);
  }

  async open(stream: string, sealed: SealedBorrower): Promise<Borrower | undefined> {
    // Rows of a borrower who was forgotten hold nothing that could be opened.
    if (sealed === '') return undefined;
    return (await this.#vault.open(stream, sealed)) ?? this.#forgotten(stream);
  }

  async sealText(...[stream, text]: Parameters<BorrowerVault['sealText']>) {
    return (await this.#vault.sealText(stream, text)) ?? this.#forgotten(stream);
  }

  async sealNames(...[stream, names]: Parameters<BorrowerVault['sealNames']>) {
    return (await this.#vault.sealNames(stream, names)) ?? this.#forgotten(stream);
  }

  async openTexts(...[stream, texts]: Parameters<BorrowerVault['openTexts']>) {
    const opened = await this.#vault.openTexts(stream, texts);
    if (opened.includes(undefined)) await this.#forgotten(stream);
    return opened;
  }

  /** The log is asked, and not a row or a cache: what it holds is true while a key is being deleted, too. @throws KeyMissingError */
  async #forgotten(stream: string): Promise<undefined> {
    const { events } = await this.#deps.events.read(stream);
    const has = (storedType: string): boolean => events.some(({ type }) => type === storedType);
    if (!has(loanReceived.storedType) || has(borrowerForgotten.storedType)) return;
    const error = new KeyMissingError(stream);
    this.#deps.onMissing(error);
    throw error;
  }
}
