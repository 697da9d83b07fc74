import { randomUUID } from 'node:crypto';
import { SignJWT, decodeJwt, errors, jwtVerify } from 'jose';
import type { CryptoKey, JWTPayload, JWTVerifyResult } from 'jose';
import type { LRUCache } from 'lru-cache';
import { InvalidTokenError, TokenExpiredError } from '../../application/clients/tokens.ts';
import { scopesOf } from '../../application/clients/scopes.ts';
import type { Client } from '../../application/clients/client-registry.ts';
import type { TokenClaims, Tokens } from '../../application/clients/tokens.ts';
import type { RealClock } from '../../application/ports/clock.ts';
import { sizedCache } from '../../application/support/sized-cache.ts';
import { ALGORITHM } from './token-signing-keys.ts';
import type { TokenSigningKeys } from './token-signing-keys.ts';

const LIFETIME_S = 3600;
/** For clocks of the service's processes that disagree. */
const TOLERANCE_S = 5;
const LONGEST_TOKEN = 4096;
/** Bytes of what is known of a token beside its text. */
const CLAIMS = 600;

interface TokenSettings {
  /** AUTH_URL */
  readonly issuer: string;
  /** PUBLIC_URL */
  readonly audience: string;
  readonly environment: 'sandbox' | 'production';
  /** For tokens that were verified. */
  readonly cacheBytes: number;
}

interface Verified {
  readonly claims: TokenClaims;
  readonly kid: string;
  /** UNIX seconds at which it is taken no more. */
  readonly until: number;
}

/**
 * Access tokens as signed JWTs. A verified token is remembered, so that the signature is checked once; the expiry, and that its key was
 * not revoked, each time.
 */
export class JwtTokens implements Tokens {
  readonly #keys: TokenSigningKeys;
  readonly #clock: RealClock;
  readonly #settings: TokenSettings;
  readonly #verified: LRUCache<string, Verified>;

  constructor(keys: TokenSigningKeys, clock: RealClock, settings: TokenSettings) {
    this.#keys = keys;
    this.#clock = clock;
    this.#settings = settings;
    this.#verified = sizedCache<Verified>(settings.cacheBytes, () => CLAIMS);
  }

  async issue(client: Client, lifetime = LIFETIME_S): ReturnType<Tokens['issue']> {
    const key = await this.#keys.active();
    const { issuer, audience, environment } = this.#settings;
    const now = Math.floor(this.#now() / 1000);
    const scope = scopesOf(client).join(' ');
    const accessToken = await new SignJWT({ scope, env: environment })
      .setProtectedHeader({ alg: ALGORITHM, kid: key.kid, typ: 'JWT' })
      .setIssuer(issuer)
      .setSubject(client.clientId)
      .setAudience(audience)
      .setIssuedAt(now)
      .setNotBefore(now)
      .setExpirationTime(now + lifetime)
      .setJti(randomUUID())
      .sign(key.privateKey);
    return { accessToken, expiresIn: lifetime, scope };
  }

  async jwks(): Promise<{ readonly keys: readonly object[] }> {
    return { keys: (await this.#keys.published()).map((key) => key.publicJwk) };
  }

  async verify(token: string): Promise<TokenClaims> {
    const { claims, kid, until } = this.#verified.get(token) ?? (await this.#check(token));
    if (until <= this.#now() / 1000) {
      this.#verified.delete(token);
      throw new TokenExpiredError('the access token has expired');
    }
    await this.#keyOf(kid);
    return claims;
  }

  async #check(token: string): Promise<Verified> {
    if (token.length > LONGEST_TOKEN) throw new InvalidTokenError('not an access token');
    const { payload, protectedHeader } = await this.#signed(token);
    const claims = claimsOf(payload, this.#settings.environment);
    const isShort = claims.expiresAt - payload.iat! < LIFETIME_S;
    const until = claims.expiresAt + (isShort ? 0 : TOLERANCE_S);
    const verified = { claims, kid: protectedHeader.kid ?? '', until };
    this.#verified.set(token, verified);
    return verified;
  }

  async #signed(token: string): Promise<JWTVerifyResult> {
    try {
      return await jwtVerify(token, (header) => this.#keyOf(header.kid), {
        algorithms: [ALGORITHM],
        typ: 'JWT',
        issuer: this.#settings.issuer,
        audience: this.#settings.audience,
        requiredClaims: ['sub', 'iat', 'nbf', 'exp', 'jti', 'scope', 'env'],
        clockTolerance: TOLERANCE_S,
        // Where the clock was set back, a token was made in what is now the future.
        currentDate: new Date(Math.max(this.#now(), notBefore(token))),
      });
    } catch (error) {
      if (error instanceof errors.JWTExpired) throw new TokenExpiredError('the access token has expired');
      if (error instanceof errors.JOSEError || error instanceof InvalidTokenError) throw this.#invalid(token);
      throw error;
    }
  }

  /** Reads the unverified claims to tell the caller what was mixed up; nothing else relies on them. */
  #invalid(token: string): InvalidTokenError {
    const { issuer, audience, environment } = this.#settings;
    const { iss, aud, env } = claimedBy(token);
    if (iss !== undefined && iss !== issuer)
      return new InvalidTokenError(
        `it has another issuer; tokens for this service come from ${issuer}/token`,
      );
    if (aud !== undefined && aud !== audience)
      return new InvalidTokenError(`it has another audience; this service is ${audience}`);
    if (env !== undefined && env !== environment) return otherEnvironment(environment);
    return new InvalidTokenError('it was not issued here, was altered, or its key is no longer used');
  }

  async #keyOf(kid: string | undefined): Promise<CryptoKey> {
    const key = kid === undefined ? undefined : await this.#keys.find(kid);
    if (key === undefined) throw new InvalidTokenError('signed with a key that this service does not use');
    return key.publicKey;
  }

  #now(): number {
    return Date.parse(this.#clock.realNow());
  }
}

const claimedBy = (token: string): JWTPayload => {
  try {
    return decodeJwt(token);
  } catch {
    return {};
  }
};

/** Milliseconds since 1970; 0 for a text that does not say it. */
const notBefore = (token: string): number => {
  const { nbf } = claimedBy(token);
  return Number.isSafeInteger(nbf) ? nbf! * 1000 : 0;
};

const otherEnvironment = (environment: string): InvalidTokenError =>
  new InvalidTokenError(`it is for another environment; this one is the ${environment}`);

const claimsOf = (payload: JWTPayload, environment: string): TokenClaims => {
  const { sub, exp, scope, env } = payload;
  if (env !== environment) throw otherEnvironment(environment);
  if (typeof sub !== 'string' || typeof exp !== 'number' || typeof scope !== 'string') {
    throw new InvalidTokenError('it does not say whose it is, until when, and what for');
  }
  return { clientId: sub, scopes: scope.split(' '), expiresAt: exp };
};
