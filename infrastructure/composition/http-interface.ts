import { join } from 'node:path';
import type { Container } from 'inversify';
import { createHttpApp } from '../http/app.ts';
import { HttpProblem } from '../http/errors/http-problem.ts';
import type { Readiness } from '../http/handlers/meta.ts';
import { UploadArea } from '../http/bodies/upload-area.ts';
import { healthApp } from '../http/server/health-app.ts';
import type { RequestListener } from '../http/server/health-app.ts';
import type { Configuration } from './configuration.ts';
import { TOKENS } from './tokens.ts';
import { useCasesOf } from './use-cases.ts';

/** What this process answers; to be closed when the last request has been answered. */
export interface HttpInterface {
  readonly listener: RequestListener;
  close(): Promise<void>;
}

const wholeInterface = async (
  container: Container,
  configuration: Configuration,
  readiness: () => Promise<Readiness>,
): Promise<HttpInterface> => {
  const uploads = await UploadArea.open(join(configuration.dataDir, 'uploads'));
  const tokens = container.get(TOKENS.tokens);
  const listener = await createHttpApp({
    settings: {
      environment: configuration.environment,
      publicUrl: configuration.publicUrl,
      authUrl: configuration.authUrl,
      trustedHops: configuration.trustProxy,
      ...(configuration.apiDeprecation !== undefined && { deprecation: configuration.apiDeprecation }),
    },
    useCases: useCasesOf(container),
    tokens: { issuer: tokens, verifier: tokens },
    authenticator: container.get(TOKENS.authenticator),
    clients: container.get(TOKENS.clientDirectory),
    limiter: container.get(TOKENS.rateLimiter),
    uploads,
    readiness,
    clock: container.get(TOKENS.clock),
    logger: container.get(TOKENS.logger),
    watch: container.get(TOKENS.observability).requests,
  });
  return { listener, close: () => uploads.close() };
};

/** The interface with the role `api`, its health alone without. */
export const httpInterface = async (
  container: Container,
  configuration: Configuration,
  readiness: () => Promise<Readiness>,
): Promise<HttpInterface> => {
  if (configuration.roles.includes('api')) return wholeInterface(container, configuration, readiness);
  const listener = healthApp({
    readiness,
    otherwise: () => new HttpProblem('not_found', 'This process does not serve the interface.'),
  });
  return { listener, close: async () => undefined };
};
