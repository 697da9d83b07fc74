import { createHmac, createSecretKey } from 'node:crypto';
import type { SealKeys, SealMac } from '../../application/ports/audit.ts';
import { DATA_KEYS, dataKey } from './data-keys.ts';
import type { NamedKeys } from './wrapped-keys.ts';

const macWith = (bytes: Buffer): SealMac => {
  const key = createSecretKey(bytes);
  return (text) => createHmac('sha256', key).update(text, 'utf8').digest('hex');
};

/** The key of the seals, a data key of its own. */
export class DataSealKeys implements SealKeys {
  readonly #keys: NamedKeys;

  constructor(keys: NamedKeys) {
    this.#keys = keys;
  }

  async find(): Promise<SealMac | undefined> {
    const text = await this.#keys.get(DATA_KEYS.seals);
    return text === undefined ? undefined : macWith(Buffer.from(text, 'base64url'));
  }

  async make(): Promise<SealMac> {
    return macWith(await dataKey(this.#keys, DATA_KEYS.seals));
  }
}
