import type { LRUCache } from 'lru-cache';
import type { Client, ClientRegistry, ClientWithSecret, Application } from './client-registry.ts';
import { MIB, sizedCache } from '../support/sized-cache.ts';

interface ResolvedClient {
  readonly client: Client;
  readonly application: Application;
}

interface DirectoryEntry {
  readonly resolved: ResolvedClient | undefined;
  /** Milliseconds of the monotonic clock when the lookup began: what changed later may be missing in it. */
  readonly asOf: number;
}

const [CLIENT_BYTES, FUND_BYTES] = [1_000, 60];

const bytesOf = ({ resolved }: DirectoryEntry): number =>
  CLIENT_BYTES + (resolved?.application.fundIds.length ?? 0) * FUND_BYTES;

const FRESH_MS = 5_000;

/** Remembered for at most five seconds, so that a revoked client takes effect soon; what would refuse a fund looks anew. */
export class ClientDirectory {
  readonly #registry: ClientRegistry;
  readonly #now: () => number;
  readonly #entries: LRUCache<string, DirectoryEntry>;
  readonly #lookups = new Map<string, Promise<ResolvedClient | undefined>>();

  /** @param now milliseconds of a clock that never goes back */
  constructor(
    registry: ClientRegistry,
    cacheBytes: number = MIB,
    now: () => number = () => performance.now(),
  ) {
    this.#registry = registry;
    this.#entries = sizedCache(cacheBytes, bytesOf);
    this.#now = now;
  }

  async resolve(clientId: string): Promise<ResolvedClient | undefined> {
    const known = this.#entries.get(clientId);
    if (known !== undefined && this.#now() - known.asOf < FRESH_MS) return known.resolved;
    const underway = this.#lookups.get(clientId);
    if (underway !== undefined) return underway;
    const lookup = this.lookUp(clientId).finally(() => this.#lookups.delete(clientId));
    this.#lookups.set(clientId, lookup);
    return lookup;
  }

  /** What holds now, however short ago it was asked. */
  async lookUp(clientId: string): Promise<ResolvedClient | undefined> {
    const asOf = this.#now();
    const client = await this.#registry.find(clientId);
    const resolved =
      client === undefined || client.revokedAt !== null ? undefined : await this.#withFunds(client);
    if ((this.#entries.get(clientId)?.asOf ?? asOf) <= asOf) this.#entries.set(clientId, { resolved, asOf });
    return resolved;
  }

  async #withFunds({ secretHash: _, ...client }: ClientWithSecret): Promise<ResolvedClient | undefined> {
    const application = await this.#registry.application(client.applicationId);
    return application === undefined ? undefined : { client, application };
  }
}
