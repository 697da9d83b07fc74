import type { Client, ClientRegistry, ClientWithSecret } from '../../application/ports/client-registry.ts';
import type { ClientAuthenticator } from '../../application/ports/tokens.ts';
import { ConcurrencyLimit } from './concurrency-limit.ts';
import { hashOfNobody, secretMatches } from './secret-hash.ts';

/** Half of libuv's pool, so that files and DNS go on during a flood of token requests; 16 MiB each. */
const AT_ONCE = 2;
/** About two seconds of work. */
const WAITING = 100;
const LONGEST_SECRET = 1024;

/** @see ClientAuthenticator; raises BusyError when too many wait. */
export class ScryptClientAuthenticator implements ClientAuthenticator {
  readonly #registry: ClientRegistry;
  readonly #limit: ConcurrencyLimit;
  readonly #nobody = hashOfNobody();

  constructor(registry: ClientRegistry, limit = new ConcurrencyLimit(AT_ONCE, WAITING)) {
    this.#registry = registry;
    this.#limit = limit;
  }

  async authenticate(clientId: string, secret: string): Promise<Client | undefined> {
    const client = await this.#registry.find(clientId);
    const attempt = secret.slice(0, LONGEST_SECRET);
    const matches = await this.#limit.run(() => secretMatches(attempt, client?.secretHash ?? this.#nobody));
    if (!matches || client === undefined || client.revokedAt !== null) return undefined;
    return attempt === secret ? withoutSecret(client) : undefined;
  }
}

const withoutSecret = ({ secretHash: _, ...client }: ClientWithSecret): Client => client;
