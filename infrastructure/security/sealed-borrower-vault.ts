import { createHmac, createSecretKey } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import type { Borrower, BorrowerIndex, BorrowerVault } from '../../application/ports/borrower-vault.ts';
import type { StoredFormats } from '../../application/ports/stored-formats.ts';
import { borrowerDigest } from '../../application/privacy/forget-borrower.ts';
import type { SealedBorrower } from '../../domain/shared/identifiers.ts';
import type { OperationKey, OperationKeys } from './operation-keys.ts';
import type { PrivateName, PrivateText, Sealed } from '../../domain/shared/private-text.ts';
import { AesGcmSealer } from './aes-gcm-sealer.ts';

/** A sealed text is the id of the operation's key, a dot, and the sealer's text. The stream is authenticated with it. */
export class SealedBorrowerVault implements BorrowerVault {
  readonly #keys: OperationKeys;
  readonly #digestKey: KeyObject;
  readonly #index: Pick<BorrowerIndex, 'add'>;
  readonly #formats: Pick<StoredFormats, 'forEarlierRelease'>;

  /** @param digestKey 32 bytes, derived from the master key */
  constructor(
    keys: OperationKeys,
    digestKey: Uint8Array,
    index: Pick<BorrowerIndex, 'add'>,
    formats: Pick<StoredFormats, 'forEarlierRelease'>,
  ) {
    this.#keys = keys;
    this.#digestKey = createSecretKey(digestKey);
    this.#index = index;
    this.#formats = formats;
  }

  async seal(stream: string, borrower: Borrower): Promise<SealedBorrower> {
    const entry = { digest: borrowerDigest(this, borrower.document_number), stream };
    // The index comes first: a borrower that is not in the index could not be forgotten.
    const [key] = await Promise.all([this.#keys.key(stream), this.#index.add([entry])]);
    return sealWith(key, JSON.stringify(borrower), borrowerOf(stream));
  }

  async open(stream: string, sealed: SealedBorrower): Promise<Borrower | undefined> {
    const text = openWith(await this.#keys.find(stream), sealed, borrowerOf(stream));
    return text === undefined ? undefined : (JSON.parse(text) as Borrower);
  }

  async sealText(stream: string, text: string): Promise<PrivateText | undefined> {
    const [key, plain] = await Promise.all([this.#keys.find(stream), this.#formats.forEarlierRelease()]);
    return key && (plain ? text : { sealed: sealWith(key, text, textOf(stream)) });
  }

  async sealNames(stream: string, names: readonly string[]): Promise<readonly PrivateName[] | undefined> {
    const [key, plain] = await Promise.all([this.#keys.find(stream), this.#formats.forEarlierRelease()]);
    if (!key || plain) return key && names;
    return names.map((name) => ({
      sealed: sealWith(key, name, textOf(stream)),
      digest: nameDigest(key, name),
    }));
  }

  async openTexts(stream: string, texts: readonly Sealed[]): Promise<readonly (string | undefined)[]> {
    if (texts.length === 0) return [];
    const key = await this.#keys.find(stream);
    return texts.map(({ sealed }) => openWith(key, sealed, textOf(stream)));
  }

  digest(text: string): string {
    return createHmac('sha256', this.#digestKey).update(text, 'utf8').digest('hex');
  }
}

const borrowerOf = (stream: string): string => `borrower:${stream}`;
const textOf = (stream: string): string => `text:${stream}`;

const sealWith = <Text extends string>(key: OperationKey, text: string, context: string): Text =>
  `${key.id}.${new AesGcmSealer(key.bytes).seal(text, context)}` as Text;

const openWith = (key: OperationKey | undefined, sealed: string, context: string): string | undefined => {
  const dot = sealed.indexOf('.');
  // After a borrower was forgotten the operation may have a new key, which does not open older texts.
  if (key === undefined || sealed.slice(0, dot) !== key.id) return undefined;
  return new AesGcmSealer(key.bytes).open(sealed.slice(dot + 1), context);
};

/** Made with the operation's key, so that the digest becomes useless when the key is deleted. */
const nameDigest = ({ bytes }: OperationKey, name: string): string =>
  createHmac('sha256', bytes).update('document name|', 'utf8').update(name, 'utf8').digest('hex');
