import type { Container } from 'inversify';
import { createContainer } from './container.ts';
import type { Foundations } from './container.ts';
import { FrontDoor } from './front-door.ts';
import { httpInterface } from './http-interface.ts';
import { serveMetrics } from './metrics-endpoint.ts';
import { openObservability } from './observability.ts';
import { readinessOf } from './readiness.ts';
import { rolesOf } from './roles.ts';
import { TOKENS } from './tokens.ts';

/** Requests get most of the ten seconds that a stop may take; the rest is for what runs beside them. */
const REQUEST_GRACE_MS = 6_000;

export interface RunningService {
  readonly container: Container;
  /** Stops accepting, finishes what is in flight, closes the stores. */
  stop(): Promise<void>;
}

/**
 * Starts every role of the configuration.
 * @param door where it is to be reached; default: one of its own, which `stop` closes as it closes the other
 * @throws what the listening address says, after closing what was opened
 */
export const startService = async (foundations: Foundations, door?: FrontDoor): Promise<RunningService> => {
  const { configuration, logger } = foundations;
  const observability = await openObservability(configuration, foundations.engines, logger);
  const engines = observability.engines(foundations.engines);
  const container = createContainer({ ...foundations, engines, observability });
  await container.get(TOKENS.documents).start();
  const roles = rolesOf(container, configuration);
  container.bind(TOKENS.roles).toConstantValue(roles);
  const background = [...roles.leased, ...roles.free];
  for (const one of background) one.start();
  const metrics = await serveMetrics(container, engines);
  let entrance = door;
  const stop = async (): Promise<void> => {
    // What another process can take over goes first, and at once; what requests may wait for stays until they are answered.
    await Promise.all([...roles.leased.map((one) => one.stop()), entrance?.close(REQUEST_GRACE_MS)]);
    container.get(TOKENS.pdfChecker).close();
    // The bus with them: a relay may wait in it for a consumer that is stopping, too.
    await Promise.all([...roles.free.map((one) => one.stop()), engines.eventBus.close()]);
    await Promise.all([metrics?.close(), observability.tracer.close()]);
    await engines.close();
  };
  try {
    const readiness = readinessOf(container, configuration);
    const app = await httpInterface(container, configuration, readiness);
    entrance ??= await FrontDoor.open(configuration);
    entrance.serve(app, container.get(TOKENS.rateLimiter));
  } catch (error) {
    await stop();
    throw error;
  }
  return { container, stop };
};
