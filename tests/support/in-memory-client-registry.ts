import type {
  Application,
  Client,
  ClientChanges,
  ClientRegistry,
  ClientWithSecret,
} from '../../application/clients/client-registry.ts';

/** Clients in a map; `lookups` counts calls of `find`. */
export class InMemoryClientRegistry implements ClientRegistry {
  readonly clients = new Map<string, ClientWithSecret>();
  readonly funds = new Map<string, readonly string[]>();
  lookups = 0;
  /** While set, looking up a client fails with it. */
  failure: Error | undefined;

  async create(client: ClientWithSecret, fundIds: readonly string[]): Promise<readonly string[]> {
    this.clients.set(client.clientId, client);
    const linked = new Set([...(this.funds.get(client.applicationId) ?? []), ...fundIds]);
    this.funds.set(client.applicationId, [...linked]);
    return [...linked];
  }

  async find(clientId: string): Promise<ClientWithSecret | undefined> {
    this.lookups += 1;
    await new Promise((resolve) => setImmediate(resolve));
    if (this.failure !== undefined) throw this.failure;
    return this.clients.get(clientId);
  }

  async application(applicationId: string): Promise<Application | undefined> {
    const fundIds = this.funds.get(applicationId);
    const living = [...this.clients.values()].filter(
      (client) => client.applicationId === applicationId && client.revokedAt === null,
    );
    const rateLimitMultiplier = Math.max(0, ...living.map((client) => client.rateLimitMultiplier));
    return fundIds === undefined ? undefined : { applicationId, fundIds, rateLimitMultiplier };
  }

  async list(): Promise<readonly (Client & { readonly fundIds: readonly string[] })[]> {
    return [...this.clients.values()].map(({ secretHash: _, ...client }) => ({
      ...client,
      fundIds: this.funds.get(client.applicationId) ?? [],
    }));
  }

  async update(clientId: string, changes: ClientChanges): Promise<boolean> {
    const client = this.clients.get(clientId);
    if (client === undefined || client.revokedAt !== null) return false;
    const { name = client.name, rateLimitMultiplier = client.rateLimitMultiplier } = changes;
    this.clients.set(clientId, { ...client, name, rateLimitMultiplier });
    const linked = (this.funds.get(client.applicationId) ?? []).filter(
      (id) => !changes.removeFundIds.includes(id),
    );
    this.funds.set(client.applicationId, [...new Set([...linked, ...changes.addFundIds])]);
    return true;
  }

  async replaceSecretHash(clientId: string, from: string, to: string): Promise<boolean> {
    const client = this.clients.get(clientId);
    if (client?.secretHash !== from) return false;
    this.clients.set(clientId, { ...client, secretHash: to });
    return true;
  }

  async revoke(clientId: string, at: string): Promise<boolean> {
    const client = this.clients.get(clientId);
    if (client === undefined || client.revokedAt !== null) return false;
    this.clients.set(clientId, { ...client, revokedAt: at });
    return true;
  }
}
