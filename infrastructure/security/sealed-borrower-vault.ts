import { createHmac, createSecretKey } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import type { Borrower, BorrowerVault } from '../../application/ports/borrower-vault.ts';
import type { BorrowerIndex } from '../../application/ports/borrower-index.ts';
import { borrowerDigest } from '../../application/privacy/borrower-digest.ts';
import type { SealedBorrower } from '../../domain/shared/identifiers.ts';
import type { OperationKeys } from './operation-keys.ts';
import { Sealer } from './sealer.ts';

/** Sealed text: id of the operation's key, a dot, what the sealer made. The stream is authenticated with it. */
export class SealedBorrowerVault implements BorrowerVault {
  readonly #keys: OperationKeys;
  readonly #digestKey: KeyObject;
  readonly #index: Pick<BorrowerIndex, 'add'>;

  /** @param digestKey 32 bytes, derived from the master key */
  constructor(keys: OperationKeys, digestKey: Uint8Array, index: Pick<BorrowerIndex, 'add'>) {
    this.#keys = keys;
    this.#digestKey = createSecretKey(digestKey);
    this.#index = index;
  }

  async seal(stream: string, borrower: Borrower): Promise<SealedBorrower> {
    const entry = { digest: borrowerDigest(this, borrower.document_number), stream };
    // Before anything sealed is stored: data that cannot be found cannot be forgotten.
    const [key] = await Promise.all([this.#keys.key(stream), this.#index.add([entry])]);
    const sealed = new Sealer(key.bytes).seal(JSON.stringify(borrower), contextOf(stream));
    return `${key.id}.${sealed}` as SealedBorrower;
  }

  async open(stream: string, sealed: SealedBorrower): Promise<Borrower | undefined> {
    const key = await this.#keys.find(stream);
    const dot = sealed.indexOf('.');
    // A key made after the borrower was forgotten is not the one that sealed this: there is nothing left to open it with.
    if (key === undefined || sealed.slice(0, dot) !== key.id) return undefined;
    return JSON.parse(new Sealer(key.bytes).open(sealed.slice(dot + 1), contextOf(stream))) as Borrower;
  }

  digest(text: string): string {
    return createHmac('sha256', this.#digestKey).update(text, 'utf8').digest('hex');
  }
}

const contextOf = (stream: string): string => `borrower:${stream}`;
