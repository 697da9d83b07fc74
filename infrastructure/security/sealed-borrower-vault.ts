import { createHmac, createSecretKey } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import type { Borrower, BorrowerVault } from '../../application/ports/borrower-vault.ts';
import type { StoredFormats } from '../../application/event-codec/stored-formats.ts';
import type { EventStore } from '../../application/ports/event-store.ts';
import type { SqlBorrowerIndex } from '../../application/privacy/borrower-index.ts';
import { borrowerDigest } from '../../application/privacy/forget-borrower.ts';
import { requireForgotten } from '../../application/privacy/missing-keys.ts';
import type { KeyMissingError } from '../../application/privacy/missing-keys.ts';
import type { SealedBorrower } from '../../domain/shared/identifiers.ts';
import type { OperationKey, OperationKeys } from './operation-keys.ts';
import type { PrivateName, PrivateText, Sealed } from '../../domain/shared/private-text.ts';
import { openText, sealText } from './aes-gcm.ts';

interface Dependencies {
  readonly keys: Pick<OperationKeys, 'key' | 'find'>;
  /** 32 bytes. */
  readonly digestKey: Uint8Array;
  readonly index: Pick<SqlBorrowerIndex, 'add'>;
  readonly formats: Pick<StoredFormats, 'forEarlierRelease'>;
  /** Says of a key that is gone whether its borrower was forgotten. */
  readonly events: Pick<EventStore, 'read'>;
  /** Is told of each operation whose key is lost. Returns at once and never fails. */
  readonly onMissing: (error: KeyMissingError) => void;
}

/** A sealed text is the id of the operation's key, a dot, and the sealer's text. The stream is authenticated with it. */
export class SealedBorrowerVault implements BorrowerVault {
  readonly #deps: Dependencies;
  readonly #digestKey: KeyObject;

  constructor(dependencies: Dependencies) {
    this.#deps = dependencies;
    this.#digestKey = createSecretKey(dependencies.digestKey);
  }

  async seal(stream: string, borrower: Borrower): Promise<SealedBorrower> {
    const entry = { digest: borrowerDigest(this, borrower.document_number), stream };
    // The index comes first: a borrower that is not in the index could not be forgotten.
    const { keys, index } = this.#deps;
    const [key] = await Promise.all([keys.key(stream), index.add([entry])]);
    return sealWith(key, JSON.stringify(borrower), borrowerOf(stream));
  }

  async open(stream: string, sealed: SealedBorrower): Promise<Borrower | undefined> {
    // Rows of a borrower who was forgotten hold nothing that could be opened.
    if (sealed === '') return undefined;
    return (await this.peek(stream, sealed)) ?? this.#forgotten(stream);
  }

  async peek(stream: string, sealed: SealedBorrower): Promise<Borrower | undefined> {
    const text = openWith(await this.#deps.keys.find(stream), sealed, borrowerOf(stream));
    return text === undefined ? undefined : (JSON.parse(text) as Borrower);
  }

  async sealText(stream: string, text: string): Promise<PrivateText | undefined> {
    const { key, plain } = await this.#sealing(stream);
    if (!key) return this.#forgotten(stream);
    return plain ? text : { sealed: sealWith(key, text, textOf(stream)) };
  }

  async sealNames(stream: string, names: readonly string[]): Promise<readonly PrivateName[] | undefined> {
    const { key, plain } = await this.#sealing(stream);
    if (!key) return this.#forgotten(stream);
    if (plain) return names;
    return names.map((name) => ({
      sealed: sealWith(key, name, textOf(stream)),
      digest: nameDigest(key, name),
    }));
  }

  async openTexts(stream: string, texts: readonly Sealed[]): Promise<readonly (string | undefined)[]> {
    if (texts.length === 0) return [];
    const key = await this.#deps.keys.find(stream);
    const opened = texts.map(({ sealed }) => openWith(key, sealed, textOf(stream)));
    if (opened.includes(undefined)) await this.#forgotten(stream);
    return opened;
  }

  digest(text: string): string {
    return createHmac('sha256', this.#digestKey).update(text, 'utf8').digest('hex');
  }

  async #sealing(stream: string) {
    const { keys, formats } = this.#deps;
    const [key, plain] = await Promise.all([keys.find(stream), formats.forEarlierRelease()]);
    return { key, plain };
  }

  async #forgotten(stream: string): Promise<undefined> {
    const { events, onMissing } = this.#deps;
    return requireForgotten(stream, events, onMissing);
  }
}

const borrowerOf = (stream: string): string => `borrower:${stream}`;
const textOf = (stream: string): string => `text:${stream}`;

const sealWith = <Text extends string>(key: OperationKey, text: string, context: string): Text =>
  `${key.id}.${sealText(key.bytes, text, context)}` as Text;

const openWith = (key: OperationKey | undefined, sealed: string, context: string): string | undefined => {
  const dot = sealed.indexOf('.');
  // After a borrower was forgotten the operation may have a new key, which does not open older texts.
  if (key === undefined || sealed.slice(0, dot) !== key.id) return undefined;
  return openText(key.bytes, sealed.slice(dot + 1), context);
};

/** Made with the operation's key, so that the digest becomes useless when the key is deleted. */
const nameDigest = ({ bytes }: OperationKey, name: string): string =>
  createHmac('sha256', bytes).update('document name|', 'utf8').update(name, 'utf8').digest('hex');
