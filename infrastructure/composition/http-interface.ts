import type { Parts } from './parts.ts';
import { join } from 'node:path';
import { ClientDirectory } from '../../application/clients/client-directory.ts';
import { SqlRateBuckets } from '../../application/clients/rate-buckets.ts';
import { createHttpApp } from '../http/app.ts';
import { UploadArea } from '../http/bodies/upload-area.ts';
import { HttpProblem } from '../http/errors/http-problem.ts';
import { TokenBucketLimiter } from '../http/limits/rate-limiter.ts';
import type { RateLimiter } from '../http/limits/rate-limiter.ts';
import { SharedTokenBucketLimiter } from '../http/limits/shared-token-bucket-limiter.ts';
import { healthApp } from '../http/server/health-app.ts';
import type { Readiness } from '../http/server/health-app.ts';
import { HashedClientAuthenticator } from '../security/hashed-client-authenticator.ts';
import { cacheBytes } from './cache-shares.ts';
import { sharesStores } from './engines.ts';

/** In one process it counts by itself; processes that share their stores count together. */
const rateLimiterOf = ({ configuration, engines, logger }: Parts['foundations']): RateLimiter => {
  const local = new TokenBucketLimiter(Date.now, cacheBytes(configuration, 'rateBuckets'));
  if (!sharesStores(configuration)) return local;
  const buckets = new SqlRateBuckets(engines.serviceDatabase);
  return new SharedTokenBucketLimiter({ buckets, local, logger, now: () => performance.now() });
};

const wholeInterface = async (parts: Parts, readiness: () => Promise<Readiness>, limiter: RateLimiter) => {
  const { configuration, clock, logger, observability } = parts.foundations;
  const { environment, strict, publicUrl, authUrl, trustProxy, apiDeprecation } = configuration;
  const uploads = await UploadArea.open(join(configuration.dataDir, 'uploads'));
  const { tokens, clientRegistry, formats } = parts;
  const listener = await createHttpApp({
    settings: {
      environment,
      strict,
      publicUrl,
      authUrl,
      trustedHops: trustProxy,
      ...(apiDeprecation !== undefined && { deprecation: apiDeprecation }),
    },
    app: parts.app,
    tokens,
    authenticator: new HashedClientAuthenticator(clientRegistry, formats),
    clients: new ClientDirectory(clientRegistry, cacheBytes(configuration, 'clients')),
    limiter,
    uploads,
    readiness,
    clock,
    logger,
    watch: observability.requests,
  });
  return { listener, limiter, close: () => uploads.close() };
};

/** With the role `api` the whole interface; without it only the health checks. To be closed when the last request has been answered. */
export const httpInterface = async (parts: Parts, readiness: () => Promise<Readiness>) => {
  const { roles } = parts.foundations.configuration;
  const limiter = rateLimiterOf(parts.foundations);
  if (roles.includes('api')) return wholeInterface(parts, readiness, limiter);
  const listener = healthApp({
    readiness,
    otherwise: () => new HttpProblem('not_found', 'This process does not serve the interface.'),
  });
  return { listener, limiter, close: async () => undefined };
};
