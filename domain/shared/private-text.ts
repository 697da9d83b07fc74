import type { Brand } from './identifiers.ts';

export type SealedText = Brand<string, 'SealedText'>;

export interface Sealed {
  readonly sealed: SealedText;
}

/** Equal names of one operation have equal digests, which cannot be made or guessed without the operation's key. */
export interface SealedName extends Sealed {
  readonly digest: string;
}

/** What may name a person. Events of earlier versions hold it as plain text; it is hidden, but stays, once the borrower is forgotten. */
export type PrivateText = string | Sealed;
export type PrivateName = string | SealedName;

/** A plain name and a sealed one are never the same to the domain: only the key's holder could tell. */
export const isSameName = (one: PrivateName, other: PrivateName): boolean =>
  typeof one === 'string' || typeof other === 'string' ? one === other : one.digest === other.digest;
