import type { Client } from './client-registry.ts';

export interface TokenClaims {
  readonly clientId: string;
  readonly scopes: readonly string[];
  /** UNIX seconds. */
  readonly expiresAt: number;
}

export interface Tokens {
  /** @param lifetime seconds, at most an hour, which is the default; a shorter one ends to the second, whatever the clocks of other processes say */
  issue(
    client: Client,
    lifetime?: number,
  ): Promise<{
    readonly accessToken: string;
    /** Seconds. */
    readonly expiresIn: number;
    readonly scope: string;
  }>;
  /** Public keys as a JSON Web Key Set: every key whose tokens may still be alive. */
  jwks(): Promise<{ readonly keys: readonly object[] }>;
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

export interface SigningKeys {
  /** Publishes a new key, which signs from `activeFrom` on, in UNIX milliseconds. */
  rotate(): Promise<{ readonly kid: string; readonly activeFrom: number }>;
  /** Ends a key at once; `successor` signs from now on. @throws UnknownSigningKeyError */
  revoke(kid: string): Promise<{ readonly kid: string; readonly successor: string }>;
}

export class UnknownSigningKeyError extends Error {
  override readonly name = 'UnknownSigningKeyError';
}
