import { createSecretKey, randomBytes, randomUUID } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { secretContext } from '../../../application/ports/webhook-subscriptions.ts';
import type { RandomSource, Sealer } from '../../../application/ports/webhook-subscriptions.ts';

const CACHED_KEYS = 5_000;
const SECRET_BYTES = 32;

/** Opens sealed secrets, each once: a rotated secret is another sealed text, so an old key is never used for it. */
export class SigningKeys {
  readonly #sealer: Sealer;
  readonly #keys = new LRUCache<string, KeyObject>({ max: CACHED_KEYS });

  constructor(sealer: Sealer) {
    this.#sealer = sealer;
  }

  /** @throws Error when the secret cannot be opened */
  keyOf(webhookId: string, sealedSecret: string): KeyObject {
    const known = this.#keys.get(sealedSecret);
    if (known) return known;
    const secret = this.#sealer.open(sealedSecret, secretContext(webhookId));
    const key = createSecretKey(Buffer.from(secret, 'utf8'));
    this.#keys.set(sealedSecret, key);
    return key;
  }
}

export class SystemRandom implements RandomSource {
  id(): string {
    return randomUUID();
  }

  secret(): string {
    return `whsec_${randomBytes(SECRET_BYTES).toString('base64url')}`;
  }
}
