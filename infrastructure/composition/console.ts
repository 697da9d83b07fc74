import type { Parts } from './parts.ts';
import type { OpenConsole, RunningConsole } from '../cli/console.ts';
import { createConsoleApp } from '../console/app.ts';
import type { ConsoleSettings } from '../console/app.ts';
import { Sessions } from '../console/session.ts';
import { TokenBucketLimiter } from '../http/limits/rate-limiter.ts';
import { createHttpServer } from '../http/server/http-server.ts';

const CLOSE_WITHIN_MS = 2_000;

/** Listens. Closing it leaves the engines open. @throws Error when the address cannot be used */
export const openConsole = async (
  parts: Parts,
  { host, port, operator, readOnly, idleMs }: OpenConsole,
): Promise<RunningConsole> => {
  const { logger, clock, realClock } = parts.foundations;
  const settings: ConsoleSettings = { host, operator, readOnly };
  const sessions = new Sessions({ idleMs });
  const service = parts.app;
  const pages = createConsoleApp({
    settings,
    service,
    sessions,
    ...{ logger, clock, realClock },
  });
  const server = createHttpServer(pages.app, new TokenBucketLimiter());
  const { port: taken } = await server.listen(port, host);
  const stop = new AbortController();
  // Others move the clock of a sandbox while the console is open.
  const following = parts.sandboxClock?.follow(stop.signal);
  const name = host.includes(':') ? `[${host}]` : host;
  const base = `http://${name === '0.0.0.0' || name === '[::]' ? 'localhost' : name}:${taken}`;
  return {
    newAddress: (used) => `${base}/enter?token=${sessions.issueToken(used)}`,
    close: async () => {
      pages.close();
      await server.close(CLOSE_WITHIN_MS);
      stop.abort();
      await following;
      await service.audit.background.close();
    },
  };
};
