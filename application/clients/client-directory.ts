import type { Application, Client, ClientRegistry, ClientWithSecret, Scope } from '../ports/clients.ts';

const OF_ALL_FUNDS: readonly Scope[] = ['loans:write', 'loans:read', 'webhooks'];
/** Subscriptions carry events of every fund of the application. */
const OF_SOME_FUNDS: readonly Scope[] = ['loans:write', 'loans:read', 'events'];

interface Limits {
  readonly scopes?: readonly Scope[];
  readonly onlyFundIds?: readonly string[];
}

/** What the tokens of a client with these limits allow. */
export const scopesOf = ({ scopes, onlyFundIds }: Limits): readonly Scope[] =>
  scopes ?? (onlyFundIds === undefined ? OF_ALL_FUNDS : OF_SOME_FUNDS);

export const allows = (scopes: readonly string[], wanted: Scope): boolean =>
  scopes.includes(wanted) || (wanted === 'events' && scopes.includes('webhooks'));

export interface ResolvedClient {
  readonly client: Client;
  readonly application: Application;
}

interface Entry {
  readonly resolved: ResolvedClient | undefined;
  /** Milliseconds of the monotonic clock when the lookup began: what changed later may be missing in it. */
  readonly asOf: number;
}

const FRESH_MS = 5_000;
const ENTRIES = 10_000;

/**
 * Who a token's client is, with its application and linked funds. Remembered for at most five seconds, so that a revoked client
 * or a newly linked fund takes effect soon. `undefined` stands for a client that does not exist or was revoked.
 */
export class ClientDirectory {
  readonly #registry: ClientRegistry;
  readonly #now: () => number;
  readonly #entries = new Map<string, Entry>();
  readonly #lookups = new Map<string, Promise<ResolvedClient | undefined>>();

  /** @param now milliseconds of a clock that never goes back */
  constructor(registry: ClientRegistry, now: () => number = () => performance.now()) {
    this.#registry = registry;
    this.#now = now;
  }

  /** What is remembered of a client in good standing, without waiting; when undefined, ask `resolve`. */
  peek(clientId: string): ResolvedClient | undefined {
    return this.#fresh(clientId)?.resolved;
  }

  async resolve(clientId: string): Promise<ResolvedClient | undefined> {
    const fresh = this.#fresh(clientId);
    if (fresh !== undefined) return fresh.resolved;
    const underway = this.#lookups.get(clientId);
    if (underway !== undefined) return underway;
    const lookup = this.#lookUp(clientId).finally(() => this.#lookups.delete(clientId));
    this.#lookups.set(clientId, lookup);
    return lookup;
  }

  #fresh(clientId: string): Entry | undefined {
    const entry = this.#entries.get(clientId);
    return entry !== undefined && this.#now() - entry.asOf < FRESH_MS ? entry : undefined;
  }

  async #lookUp(clientId: string): Promise<ResolvedClient | undefined> {
    const asOf = this.#now();
    const client = await this.#registry.find(clientId);
    const resolved =
      client === undefined || client.revokedAt !== null ? undefined : await this.#withFunds(client);
    this.#remember(clientId, { resolved, asOf });
    return resolved;
  }

  async #withFunds({ secretHash: _, ...client }: ClientWithSecret): Promise<ResolvedClient | undefined> {
    const application = await this.#registry.application(client.applicationId);
    return application === undefined ? undefined : { client, application };
  }

  #remember(clientId: string, entry: Entry): void {
    this.#entries.delete(clientId);
    const oldest = this.#entries.keys().next();
    if (this.#entries.size >= ENTRIES && oldest.done !== true) this.#entries.delete(oldest.value);
    this.#entries.set(clientId, entry);
  }
}
