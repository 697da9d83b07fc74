export interface Client {
  readonly clientId: string;
  readonly applicationId: string;
  readonly name: string;
  readonly rateLimitMultiplier: number;
  readonly createdAt: string;
  readonly revokedAt: string | null;
}
export interface ClientWithSecret extends Client {
  /** Salted slow hash of the secret, self-describing text. */
  readonly secretHash: string;
}
export interface Application {
  readonly applicationId: string;
  /** Linked funds, lower-case UUIDs. */
  readonly fundIds: readonly string[];
}

/** Clients, their applications and the funds linked to them. Durable when a call resolves. */
export interface ClientRegistry {
  create(client: ClientWithSecret, fundIds: readonly string[]): Promise<Application>;
  find(clientId: string): Promise<ClientWithSecret | undefined>;
  application(applicationId: string): Promise<Application | undefined>;
  list(): Promise<readonly (Client & { readonly fundIds: readonly string[] })[]>;
  /** False when there is no such client that is not revoked. */
  revoke(clientId: string, at: string): Promise<boolean>;
}
