import { ClientDirectory } from '../../../application/clients/client-directory.ts';
import { CreateClient } from '../../../application/clients/create-client.ts';
import { TokenBucketLimiter } from '../../http/limits/rate-limiter.ts';
import type { RateLimiter } from '../../http/limits/rate-limiter.ts';
import { SharedTokenBucketLimiter } from '../../http/limits/shared-token-bucket-limiter.ts';
import { RandomClientCredentials } from '../../security/client-secrets.ts';
import { HashedClientAuthenticator } from '../../security/hashed-client-authenticator.ts';
import { JwtTokens } from '../../security/jwt-tokens.ts';
import type { TokenSigningKeys } from '../../security/token-signing-keys.ts';
import { SqlRateBuckets } from '../../sql/rate-buckets.ts';
import { sharesStores } from '../engines.ts';
import type { Foundations } from '../foundations.ts';
import type { Adapters } from './adapters.ts';

export const createClientOf = (
  { realClock }: Foundations,
  { clientRegistry: registry, formats }: Adapters,
): CreateClient =>
  new CreateClient({
    registry,
    credentials: new RandomClientCredentials(formats),
    clock: realClock,
    formats,
  });

/** In one process it counts by itself; processes that share their stores count together. */
export const rateLimiterOf = ({ configuration, engines, logger }: Foundations): RateLimiter => {
  const local = new TokenBucketLimiter();
  if (!sharesStores(configuration)) return local;
  const buckets = new SqlRateBuckets(engines.serviceDatabase);
  return new SharedTokenBucketLimiter({ buckets, local, logger, now: () => performance.now() });
};

/** How requests prove whose they are. */
export const accessArea = (
  { configuration, realClock }: Foundations,
  { clientRegistry, formats }: Adapters,
  signingKeys: TokenSigningKeys,
) => {
  const { authUrl, publicUrl, environment } = configuration;
  return {
    tokens: new JwtTokens(signingKeys, realClock, {
      issuer: authUrl,
      audience: publicUrl,
      environment,
    }),
    authenticator: new HashedClientAuthenticator(clientRegistry, formats),
    directory: new ClientDirectory(clientRegistry),
  };
};

export type Access = ReturnType<typeof accessArea>;
