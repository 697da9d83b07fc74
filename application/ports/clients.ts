export interface Client {
  readonly clientId: string;
  readonly applicationId: string;
  readonly name: string;
  readonly rateLimitMultiplier: number;
  /** What its tokens allow; absent: everything that a client of its kind can be allowed. */
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

export interface IssuedCredentials {
  readonly clientId: string;
  /** Shown once, never stored. */
  readonly clientSecret: string;
  /** Salted hash of the secret, self-describing text. */
  readonly secretHash: string;
}

/** Makes credentials that cannot be guessed, written with letters, digits, `-` and `_` only. */
export interface ClientCredentials {
  issue(): Promise<IssuedCredentials>;
}

/** `webhooks` manages subscriptions and covers `events`: seeing and sending again what was sent about operations. */
export const SCOPES = ['loans:write', 'loans:read', 'webhooks', 'events'] as const;
export type Scope = (typeof SCOPES)[number];

export interface IssuedToken {
  readonly accessToken: string;
  /** Seconds. */
  readonly expiresIn: number;
  readonly scope: string;
}
export interface TokenClaims {
  readonly clientId: string;
  readonly scopes: readonly string[];
  /** UNIX seconds. */
  readonly expiresAt: number;
}

export interface TokenIssuer {
  issue(client: Client): Promise<IssuedToken>;
  /** Public keys as a JSON Web Key Set: every key whose tokens may still be alive. */
  jwks(): Promise<{ readonly keys: readonly object[] }>;
}
export interface TokenVerifier {
  /** @throws TokenExpiredError @throws InvalidTokenError */
  verify(token: string): Promise<TokenClaims>;
}
export interface ClientAuthenticator {
  /** Same work and same answer for an unknown client, a revoked one and a wrong secret. */
  authenticate(clientId: string, secret: string): Promise<Client | undefined>;
}

/** The message goes on after "the access token is not valid here", for the client that sent it. */
export class InvalidTokenError extends Error {
  override readonly name = 'InvalidTokenError';
}
export class TokenExpiredError extends Error {
  override readonly name = 'TokenExpiredError';
}

/** Who asks, in which request. */
export interface RequestContext {
  readonly requestId: string;
  readonly clientId: string;
  readonly applicationId: string;
  /** Funds that the client may use: those linked to the application, looked up for this request. */
  readonly fundIds: readonly string[];
  /** What belongs to another fund is hidden from this client. Absent: it sees every fund, linked or no longer linked. */
  readonly onlyFundIds?: readonly string[];
  /** Aborted when the client is gone before its answer. What was not begun then need not be. */
  readonly signal?: AbortSignal | undefined;
}

/** What a use case answers: `replayed` when an earlier request with the same key had done it already. */
export interface Outcome<Result> {
  readonly replayed: boolean;
  readonly result: Result;
}
