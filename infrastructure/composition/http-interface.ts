import { join } from 'node:path';
import type { Container } from 'inversify';
import { createHttpApp } from '../http/app.ts';
import { HttpProblem } from '../http/errors/http-problem.ts';
import type { Readiness } from '../http/handlers/meta.ts';
import { healthApp } from '../http/health-app.ts';
import type { RequestListener } from '../http/health-app.ts';
import type { Configuration } from './configuration.ts';
import { TOKENS } from './tokens.ts';
import { useCasesOf } from './use-cases.ts';

const wholeInterface = async (
  container: Container,
  configuration: Configuration,
  readiness: () => Promise<Readiness>,
): Promise<RequestListener> => {
  const tokens = container.get(TOKENS.tokens);
  const app = await createHttpApp({
    settings: {
      environment: configuration.environment,
      publicUrl: configuration.publicUrl,
      authUrl: configuration.authUrl,
      trustedHops: configuration.trustProxy,
      uploadDirectory: join(configuration.dataDir, 'uploads'),
      ...(configuration.apiDeprecation !== undefined && { deprecation: configuration.apiDeprecation }),
    },
    useCases: useCasesOf(container),
    tokens: { issuer: tokens, verifier: tokens },
    authenticator: container.get(TOKENS.authenticator),
    clients: container.get(TOKENS.clientDirectory),
    limiter: container.get(TOKENS.rateLimiter),
    readiness,
    logger: container.get(TOKENS.logger),
    watch: container.get(TOKENS.observability).requests,
  });
  return app;
};

/** What this process answers: the interface with the role `api`, its health alone without. */
export const httpInterface = async (
  container: Container,
  configuration: Configuration,
  readiness: () => Promise<Readiness>,
): Promise<RequestListener> => {
  if (configuration.roles.includes('api')) return wholeInterface(container, configuration, readiness);
  return healthApp({
    readiness,
    otherwise: () => new HttpProblem('not_found', 'This process does not serve the interface.'),
  });
};
