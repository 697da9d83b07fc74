import { randomUUID } from 'node:crypto';
import { SignJWT, errors, jwtVerify } from 'jose';
import type { CryptoKey, JWTPayload } from 'jose';
import { LRUCache } from 'lru-cache';
import type { Client } from '../../application/ports/client-registry.ts';
import type { Clock } from '../../application/ports/clock.ts';
import { InvalidTokenError, SCOPES, TokenExpiredError } from '../../application/ports/tokens.ts';
import type { IssuedToken, TokenClaims, TokenIssuer, TokenVerifier } from '../../application/ports/tokens.ts';
import { ALGORITHM } from './signing-key.ts';
import type { SigningKeys } from './signing-keys.ts';

const LIFETIME_S = 3600;
/** For clocks of our own processes that disagree. */
const TOLERANCE_S = 5;
const LONGEST_TOKEN = 4096;
const CACHED_TOKENS = 10_000;

export interface TokenSettings {
  /** AUTH_URL */
  readonly issuer: string;
  /** PUBLIC_URL */
  readonly audience: string;
  readonly environment: 'sandbox' | 'production';
}

/** Access tokens as signed JWTs. A verified token is remembered, so that the signature is checked once and the expiry each time. */
export class JwtTokens implements TokenIssuer, TokenVerifier {
  readonly #keys: SigningKeys;
  readonly #clock: Clock;
  readonly #settings: TokenSettings;
  readonly #verified = new LRUCache<string, TokenClaims>({ max: CACHED_TOKENS });

  constructor(keys: SigningKeys, clock: Clock, settings: TokenSettings) {
    this.#keys = keys;
    this.#clock = clock;
    this.#settings = settings;
  }

  async issue(client: Client): Promise<IssuedToken> {
    const key = await this.#keys.active();
    const { issuer, audience, environment } = this.#settings;
    const now = Math.floor(this.#now() / 1000);
    const scope = SCOPES.join(' ');
    const accessToken = await new SignJWT({ scope, env: environment })
      .setProtectedHeader({ alg: ALGORITHM, kid: key.kid, typ: 'JWT' })
      .setIssuer(issuer)
      .setSubject(client.clientId)
      .setAudience(audience)
      .setIssuedAt(now)
      .setNotBefore(now)
      .setExpirationTime(now + LIFETIME_S)
      .setJti(randomUUID())
      .sign(key.privateKey);
    return { accessToken, expiresIn: LIFETIME_S, scope };
  }

  async jwks(): Promise<{ readonly keys: readonly object[] }> {
    return { keys: (await this.#keys.published()).map((key) => key.publicJwk) };
  }

  async verify(token: string): Promise<TokenClaims> {
    const claims = this.#verified.get(token) ?? (await this.#check(token));
    if (claims.expiresAt + TOLERANCE_S > this.#now() / 1000) return claims;
    this.#verified.delete(token);
    throw new TokenExpiredError('the access token has expired');
  }

  async #check(token: string): Promise<TokenClaims> {
    if (token.length > LONGEST_TOKEN) throw new InvalidTokenError('not an access token');
    const claims = claimsOf(await this.#signedPayload(token), this.#settings.environment);
    this.#verified.set(token, claims);
    return claims;
  }

  async #signedPayload(token: string): Promise<JWTPayload> {
    try {
      const { payload } = await jwtVerify(token, (header) => this.#keyOf(header.kid), {
        algorithms: [ALGORITHM],
        typ: 'JWT',
        issuer: this.#settings.issuer,
        audience: this.#settings.audience,
        requiredClaims: ['sub', 'iat', 'nbf', 'exp', 'jti', 'scope', 'env'],
        clockTolerance: TOLERANCE_S,
        currentDate: new Date(this.#now()),
      });
      return payload;
    } catch (error) {
      if (error instanceof errors.JWTExpired) throw new TokenExpiredError('the access token has expired');
      if (error instanceof errors.JOSEError)
        throw new InvalidTokenError('not an access token of this service');
      throw error;
    }
  }

  async #keyOf(kid: string | undefined): Promise<CryptoKey> {
    const key = kid === undefined ? undefined : await this.#keys.find(kid);
    if (key === undefined) throw new InvalidTokenError('signed with a key that this service does not use');
    return key.publicKey;
  }

  #now(): number {
    return Date.parse(this.#clock.now());
  }
}

const claimsOf = (payload: JWTPayload, environment: string): TokenClaims => {
  const { sub, exp, scope, env } = payload;
  if (
    typeof sub !== 'string' ||
    typeof exp !== 'number' ||
    typeof scope !== 'string' ||
    env !== environment
  ) {
    throw new InvalidTokenError('an access token for something else');
  }
  return { clientId: sub, scopes: scope.split(' '), expiresAt: exp };
};
