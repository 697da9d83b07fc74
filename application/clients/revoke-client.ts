import type { RealTime } from '../../domain/shared/identifiers.ts';
import type { ClientRegistry } from '../ports/clients.ts';
import type { RealClock } from '../ports/clock.ts';

/** Ends a client's access: no new tokens at once, and its living ones are refused within seconds. @see ClientDirectory */
export class RevokeClient {
  readonly #registry: ClientRegistry;
  readonly #clock: RealClock;

  constructor(registry: ClientRegistry, clock: RealClock) {
    this.#registry = registry;
    this.#clock = clock;
  }

  /** When it was revoked; undefined when there is no such client, or it was revoked before. */
  async execute(clientId: string): Promise<{ readonly revokedAt: RealTime } | undefined> {
    const revokedAt = this.#clock.realNow();
    return (await this.#registry.revoke(clientId, revokedAt)) ? { revokedAt } : undefined;
  }
}
