import { calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK } from 'jose';
import type { CryptoKey, JWK } from 'jose';

/** Pinned: a token that names any other algorithm is refused. */
export const ALGORITHM = 'ES256';

export interface SigningKey {
  /** Name in the key store; later keys have later names. */
  readonly name: string;
  readonly kid: string;
  /** UNIX milliseconds; before that the key is only published. */
  readonly activeFrom: number;
  readonly privateKey: CryptoKey;
  readonly publicKey: CryptoKey;
  readonly publicJwk: JWK;
}

interface Kept {
  readonly activeFrom: number;
  readonly privateJwk: JWK;
}

/** A new key pair as it is kept, to be wrapped. */
export const newSigningKey = async (activeFrom: number): Promise<string> => {
  const { privateKey } = await generateKeyPair(ALGORITHM, { extractable: true });
  const kept: Kept = { activeFrom, privateJwk: await exportJWK(privateKey) };
  return JSON.stringify(kept);
};

export const readSigningKey = async (name: string, text: string): Promise<SigningKey> => {
  const { activeFrom, privateJwk } = JSON.parse(text) as Kept;
  const { d: _secret, ...publicPart } = privateJwk;
  const kid = await calculateJwkThumbprint(publicPart);
  return {
    name,
    kid,
    activeFrom,
    privateKey: await importKey(privateJwk),
    publicKey: await importKey(publicPart),
    publicJwk: { ...publicPart, kid, use: 'sig', alg: ALGORITHM },
  };
};

const importKey = async (jwk: JWK): Promise<CryptoKey> => {
  const key = await importJWK({ ...jwk, alg: ALGORITHM }, ALGORITHM, { extractable: false });
  if (key instanceof Uint8Array) throw new TypeError('a signing key is an asymmetric key');
  return key;
};
