import { randomBytes } from 'node:crypto';
import type { ClientCredentials, IssuedCredentials } from '../../application/ports/clients.ts';
import type { StoredFormats } from '../../application/ports/stored-formats.ts';
import { costlyHash, hashSecret } from './secret-hash.ts';

/** 128 random bits name a client, 256 are its secret. The prefixes let a scanner of leaked secrets recognise them. */
export class RandomClientCredentials implements ClientCredentials {
  readonly #formats: Pick<StoredFormats, 'forEarlierRelease'>;

  constructor(formats: Pick<StoredFormats, 'forEarlierRelease'>) {
    this.#formats = formats;
  }

  async issue(): Promise<IssuedCredentials> {
    const clientSecret = `rfs_${randomBytes(32).toString('base64url')}`;
    return {
      clientId: `client_${randomBytes(16).toString('base64url')}`,
      clientSecret,
      secretHash: (await this.#formats.forEarlierRelease())
        ? await costlyHash(clientSecret)
        : hashSecret(clientSecret),
    };
  }
}
