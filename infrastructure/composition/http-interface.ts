import type { Parts } from './parts.ts';
import { join } from 'node:path';
import { createHttpApp } from '../http/app.ts';
import { UploadArea } from '../http/bodies/upload-area.ts';
import { HttpProblem } from '../http/errors/http-problem.ts';
import { healthApp } from '../http/server/health-app.ts';
import type { Readiness, RequestListener } from '../http/server/health-app.ts';

/** What this process answers; to be closed when the last request has been answered. */
export interface HttpInterface {
  readonly listener: RequestListener;
  close(): Promise<void>;
}

const wholeInterface = async (parts: Parts, readiness: () => Promise<Readiness>): Promise<HttpInterface> => {
  const { configuration, clock, logger, observability } = parts.foundations;
  const { environment, publicUrl, authUrl, trustProxy, apiDeprecation } = configuration;
  const uploads = await UploadArea.open(join(configuration.dataDir, 'uploads'));
  const { tokens, authenticator, directory } = parts.access;
  const listener = await createHttpApp({
    settings: {
      environment,
      publicUrl,
      authUrl,
      trustedHops: trustProxy,
      ...(apiDeprecation !== undefined && { deprecation: apiDeprecation }),
    },
    app: parts.app,
    tokens: { issuer: tokens, verifier: tokens },
    authenticator,
    clients: directory,
    limiter: parts.rateLimiter,
    uploads,
    readiness,
    clock,
    logger,
    watch: observability.requests,
  });
  return { listener, close: () => uploads.close() };
};

/** With the role `api` the whole interface; without it only the health checks. */
export const httpInterface = async (
  parts: Parts,
  readiness: () => Promise<Readiness>,
): Promise<HttpInterface> => {
  const { roles } = parts.foundations.configuration;
  if (roles.includes('api')) return wholeInterface(parts, readiness);
  const listener = healthApp({
    readiness,
    otherwise: () => new HttpProblem('not_found', 'This process does not serve the interface.'),
  });
  return { listener, close: async () => undefined };
};
