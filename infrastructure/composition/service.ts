import { join } from 'node:path';
import type { Container } from 'inversify';
import { createHttpApp } from '../http/app.ts';
import { TokenBucketLimiter } from '../http/limits/token-bucket-limiter.ts';
import { createHttpServer } from '../http/server.ts';
import type { HttpServer } from '../http/server.ts';
import { running } from './background.ts';
import type { Background } from './background.ts';
import type { Configuration, Role } from './configuration.ts';
import { createContainer } from './container.ts';
import type { Foundations } from './container.ts';
import { readinessOf } from './readiness.ts';
import { TOKENS } from './tokens.ts';
import { useCasesOf } from './use-cases.ts';

/** Requests get most of the ten seconds that a stop may take; the rest is for what runs beside them. */
const REQUEST_GRACE_MS = 6_000;
const ATTEMPT_GRACE_MS = 2_000;

export interface RunningService {
  readonly container: Container;
  /** Stops accepting, finishes what is in flight, closes the stores. */
  stop(): Promise<void>;
}

const backgroundOf = (container: Container, { roles, environment }: Configuration): readonly Background[] => {
  const relay = container.get(TOKENS.relay);
  const projector = container.get(TOKENS.loanProjector);
  const { worker } = container.get(TOKENS.webhookSide);
  const has = (role: Role): boolean => roles.includes(role);
  return [
    ...(has('webhooks')
      ? [{ name: 'webhooks', start: () => void worker.start(), stop: () => worker.stop(ATTEMPT_GRACE_MS) }]
      : []),
    ...(has('projector')
      ? [{ name: 'projector', start: () => projector.start(), stop: () => projector.stop() }]
      : []),
    ...(has('relay') ? [{ name: 'relay', start: () => relay.start(), stop: () => relay.stop() }] : []),
    ...(has('scheduler')
      ? [running('overdue scheduler', (signal) => container.get(TOKENS.overdueScheduler).run(signal))]
      : []),
    ...(has('scheduler')
      ? [
          running('renegotiation recovery', (signal) =>
            container.get(TOKENS.recoverRenegotiations).run(signal),
          ),
          running('renegotiation completion', (signal) =>
            container.get(TOKENS.completeRenegotiations).run(signal),
          ),
        ]
      : []),
    ...(has('scheduler') && environment === 'sandbox'
      ? [running('sandbox administrator', (signal) => container.get(TOKENS.sandboxAdministrator).run(signal))]
      : []),
  ];
};

const startHttp = async (container: Container, configuration: Configuration): Promise<HttpServer> => {
  const limiter = new TokenBucketLimiter();
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
    limiter,
    readiness: readinessOf(container, configuration.roles),
    logger: container.get(TOKENS.logger),
  });
  const server = createHttpServer(app, limiter);
  await server.listen(configuration.port, configuration.host);
  return server;
};

/** Starts every role of the configuration. @throws what the listening address says, after closing what was opened */
export const startService = async (foundations: Foundations): Promise<RunningService> => {
  const { configuration, engines } = foundations;
  const container = createContainer(foundations);
  await container.get(TOKENS.documents).start();
  const background = backgroundOf(container, configuration);
  for (const one of background) one.start();
  let server: HttpServer | undefined;
  const stop = async (): Promise<void> => {
    await server?.close(REQUEST_GRACE_MS);
    container.get(TOKENS.pdfChecker).close();
    // The bus with them: a relay may wait in it for a consumer that is stopping, too.
    await Promise.all([...background.map((one) => one.stop()), engines.eventBus.close()]);
    await engines.close();
  };
  try {
    if (configuration.roles.includes('api')) server = await startHttp(container, configuration);
  } catch (error) {
    await stop();
    throw error;
  }
  return { container, stop };
};
