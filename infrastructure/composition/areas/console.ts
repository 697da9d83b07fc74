import type { Container } from 'inversify';
import { catchUp } from '../../cli/catch-up.ts';
import type { OpenConsole, RunningConsole } from '../../cli/console.ts';
import { patiently } from '../../cli/submit-decisions.ts';
import { createConsoleApp } from '../../console/app.ts';
import type { ConsoleSettings } from '../../console/app.ts';
import type { ConsoleServices } from '../../console/services.ts';
import { Sessions } from '../../console/session.ts';
import { TokenBucketLimiter } from '../../http/limits/rate-limiter.ts';
import { createHttpServer } from '../../http/server/http-server.ts';
import { SqlDesk } from '../../sql/read-models/desk-reader.ts';
import { SqlDeliveryLog } from '../../sql/webhooks/delivery-log.ts';
import { SqlWebhookSubscriptions } from '../../sql/webhooks/subscriptions.ts';
import { TOKENS } from '../container.ts';
import { oneAtATime } from '../../support/one-at-a-time.ts';
import { operationServices } from './console-operations.ts';
import { portfolioPages } from './console-portfolio.ts';
import { reportServices } from './console-reports.ts';
import { progressOf } from './status.ts';

/** What the pages of the console call: the read models and services of the command line, and the desk's own queries. */
export const consoleServices = (container: Container): ConsoleServices => {
  const foundations = container.get(TOKENS.foundations);
  const adapters = container.get(TOKENS.adapters);
  const administrator = container.get(TOKENS.administrator);
  const { loanProjector } = container.get(TOKENS.readModels);
  const progress = progressOf(foundations, adapters);
  const { engines, clock, realClock } = foundations;
  const { projectionStore, clientRegistry } = adapters;
  const subscriptions = new SqlWebhookSubscriptions(engines.serviceDatabase);
  const caughtUp = oneAtATime(() => catchUp(loanProjector));
  const deliveries = new SqlDeliveryLog(engines.serviceDatabase);
  const reports = reportServices(container);
  return {
    ...reports,
    now: () => clock.now(),
    realNow: () => realClock.realNow(),
    today: () => clock.today(),
    desk: new SqlDesk(engines.readModelDatabase),
    operations: operationServices(container),
    portfolio: portfolioPages(container, caughtUp),
    endpoints: async () => {
      const clients = await clientRegistry.list();
      return subscriptions.ofApplications([...new Set(clients.map(({ applicationId }) => applicationId))]);
    },
    lag: async () => {
      const { running, followers, deliveriesWaiting } = await progress();
      return { running, followers, oldestDelivery: deliveriesWaiting.oldestSince };
    },
    decide: async (texts, operator) => {
      const answers = await patiently(() => administrator.desk.submitAll(texts, `administrator/${operator}`));
      await caughtUp();
      return answers;
    },
    changes: async () => {
      const places = await Promise.all(engines.projections.map((one) => projectionStore.checkpoint(one)));
      return JSON.stringify([places, await deliveries.lag(), reports.audit.verification.progress]);
    },
  };
};

const CLOSE_WITHIN_MS = 2_000;

/** Listens. Closing it leaves the container open. @throws Error when the address cannot be used */
export const openConsole = async (
  container: Container,
  { host, port, operator, readOnly, idleMs }: OpenConsole,
): Promise<RunningConsole> => {
  const { logger } = container.get(TOKENS.foundations);
  const settings: ConsoleSettings = { host, operator, readOnly };
  const sessions = new Sessions({ idleMs });
  const services = consoleServices(container);
  const pages = createConsoleApp({
    settings,
    services,
    sessions,
    logger,
  });
  const server = createHttpServer(pages.app, new TokenBucketLimiter());
  const { port: taken } = await server.listen(port, host);
  const stop = new AbortController();
  // Others move the clock of a sandbox while the console is open.
  const following = container.get(TOKENS.sandboxClock)?.follow(stop.signal);
  const name = host.includes(':') ? `[${host}]` : host;
  const base = `http://${name === '0.0.0.0' || name === '[::]' ? 'localhost' : name}:${taken}`;
  return {
    newAddress: () => `${base}/enter?token=${sessions.issueToken()}`,
    close: async () => {
      pages.close();
      await server.close(CLOSE_WITHIN_MS);
      stop.abort();
      await following;
      await services.audit.verification.close();
    },
  };
};
