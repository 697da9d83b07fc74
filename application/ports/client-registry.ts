import type { Scope } from './scopes.ts';

export interface Client {
  readonly clientId: string;
  readonly applicationId: string;
  readonly name: string;
  readonly rateLimitMultiplier: number;
  /** What its tokens allow; absent: everything that a client of its kind can be allowed. @see scopesOf */
  readonly scopes?: readonly Scope[];
  /** Lower-case UUIDs, at least one: what belongs to another fund is hidden from it. Absent: it sees every fund. */
  readonly onlyFundIds?: readonly string[];
  readonly createdAt: string;
  readonly revokedAt: string | null;
}
export interface ClientWithSecret extends Client {
  /** Salted hash of the secret, self-describing text. */
  readonly secretHash: string;
}
export interface Application {
  readonly applicationId: string;
  /** Linked funds, lower-case UUIDs. */
  readonly fundIds: readonly string[];
}

export interface ClientChanges {
  readonly name?: string;
  readonly rateLimitMultiplier?: number;
  /** Funds of its application. */
  readonly linkFundIds: readonly string[];
  readonly unlinkFundIds: readonly string[];
}

/** Clients, their applications and the funds linked to them. Durable when a call resolves. */
export interface ClientRegistry {
  create(client: ClientWithSecret, fundIds: readonly string[]): Promise<Application>;
  find(clientId: string): Promise<ClientWithSecret | undefined>;
  application(applicationId: string): Promise<Application | undefined>;
  list(): Promise<readonly (Client & { readonly fundIds: readonly string[] })[]>;
  /** All of it or nothing; false when there is no such client that is not revoked. */
  update(clientId: string, changes: ClientChanges): Promise<boolean>;
  /** False when the client has another hash by now, or there is none. */
  replaceSecretHash(clientId: string, from: string, to: string): Promise<boolean>;
  /** False when there is no such client that is not revoked. */
  revoke(clientId: string, at: string): Promise<boolean>;
}
