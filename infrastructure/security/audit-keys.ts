import {
  createHmac,
  createPrivateKey,
  createPublicKey,
  createSecretKey,
  generateKeyPairSync,
  sign,
  verify,
} from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import type { AnchorSignature, AnchorSigner } from '../../application/audit/anchor.ts';
import type { BookParts, SealMac } from '../../application/audit/seals/seal-log.ts';
import { DATA_KEYS, dataKey } from './wrapped-keys.ts';
import type { NamedKeys } from './wrapped-keys.ts';

const macWith = (bytes: Buffer): SealMac => {
  const key = createSecretKey(bytes);
  return (text) => createHmac('sha256', key).update(text, 'utf8').digest('hex');
};

/** The key of the seals, a data key of its own. */
export const sealKeysIn = (keys: NamedKeys): BookParts['keys'] => ({
  find: async () => {
    const text = await keys.get(DATA_KEYS.seals);
    return text === undefined ? undefined : macWith(Buffer.from(text, 'base64url'));
  },
  make: async () => macWith(await dataKey(keys, DATA_KEYS.seals)),
});

const publicText = (key: KeyObject): string =>
  createPublicKey(key).export({ type: 'spki', format: 'der' }).toString('base64url');

/** Ed25519, so that an auditor who has only the public key can verify an anchor. */
export class DataKeyAnchorSigner implements AnchorSigner {
  readonly #keys: NamedKeys;

  constructor(keys: NamedKeys) {
    this.#keys = keys;
  }

  /** Makes the key unless there is one. */
  async prepare(): Promise<KeyObject> {
    return (await this.#find()) ?? (await this.#make());
  }

  async sign(text: string): Promise<AnchorSignature> {
    const key = await this.prepare();
    const signature = sign(null, Buffer.from(text, 'utf8'), key).toString('base64url');
    return { publicKey: publicText(key), signature };
  }

  async isGenuine(text: string, { publicKey, signature }: AnchorSignature): Promise<boolean> {
    const key = await this.#find();
    if (!key || publicText(key) !== publicKey) return false;
    return verify(null, Buffer.from(text, 'utf8'), createPublicKey(key), Buffer.from(signature, 'base64url'));
  }

  async #find(): Promise<KeyObject | undefined> {
    const text = await this.#keys.get(DATA_KEYS.anchors);
    return text === undefined ? undefined : privateKeyOf(text);
  }

  async #make(): Promise<KeyObject> {
    const { privateKey } = generateKeyPairSync('ed25519');
    const text = privateKey.export({ type: 'pkcs8', format: 'der' }).toString('base64url');
    return privateKeyOf(await this.#keys.putIfAbsent(DATA_KEYS.anchors, text));
  }
}

const privateKeyOf = (text: string): KeyObject =>
  createPrivateKey({ key: Buffer.from(text, 'base64url'), type: 'pkcs8', format: 'der' });
