import { createHash } from 'node:crypto';
import { SignIn } from '../../application/desk/sign-in.ts';
import type { Refused } from '../../application/desk/sign-in.ts';
import { messageOf } from '../../application/support/failures.ts';
import type { OpenConsole } from '../cli/command-line.ts';
import { userOfSystem } from '../cli/options.ts';
import { createConsoleApp } from '../console/app.ts';
import { Sessions } from '../console/session.ts';
import { TokenBucketLimiter } from '../http/limits/rate-limiter.ts';
import { createHttpServer } from '../http/server/http-server.ts';
import { consoleMetrics } from '../observability/service-metrics.ts';
import { serveMetrics } from '../observability/metrics-server.ts';
import { OpenidProvider } from '../openid/openid-provider.ts';
import { LineAMinute } from '../support/line-a-minute.ts';
import { readConsoleConfiguration } from './console-configuration.ts';
import type { ConsoleConfiguration } from './console-configuration.ts';
import type { Parts } from './parts.ts';

const CLOSE_WITHIN_MS = 2_000;

/** Undefined where whoever has the printed address may come in. */
const signInOf = (
  { desk, logger }: Parts,
  { publicUrl, signIn }: ConsoleConfiguration,
  idleMs: number,
  counted: (when: Refused) => void,
): SignIn | undefined => {
  if (!signIn || publicUrl === undefined) return undefined;
  const { issuer, clientId, clientSecret, roles } = signIn;
  const refusals = new LineAMinute((fields) => logger.warn(fields, 'somebody was not let in at the console'));
  return new SignIn({
    sessions: desk.sessions,
    provider: new OpenidProvider({
      ...{ issuer, clientId, clientSecret },
      redirectUri: `${publicUrl}/session/callback`,
      afterSignOut: `${publicUrl}/session/ended`,
    }),
    ...{ roles, idleMs },
    configured: createHash('sha256')
      .update(JSON.stringify([issuer, clientId, roles]))
      .digest('base64url'),
    onRefused: (reason, when) => {
      counted(when);
      refusals.note('refused', { reason });
    },
  });
};

/** Listens. Closing it leaves the engines open. @throws Error when the address cannot be used */
export const openConsole = async (
  parts: Parts,
  { host, port, operator = userOfSystem(), readOnly, idleMs }: OpenConsole,
  desk: ConsoleConfiguration = readConsoleConfiguration({}),
) => {
  const { logger, clock, realClock } = parts;
  const { publicUrl } = desk;
  const sessions = new Sessions({ idleMs });
  const metrics = desk.metrics && consoleMetrics();
  const signIn = signInOf(parts, desk, idleMs, (when) => metrics?.refused(when));
  const pages = createConsoleApp({
    ...{ host, operator, readOnly },
    ...(publicUrl !== undefined && { publicUrl }),
    service: parts,
    sessions,
    ...(signIn && { signIn }),
    ...{ logger, clock, realClock },
  });
  const server = createHttpServer(pages.app, new TokenBucketLimiter());
  const { port: taken } = await server.listen(port, host).catch((error: unknown) => {
    throw new Error(`--host and --port cannot be listened on: ${messageOf(error)}`, {
      cause: error,
    });
  });
  const served = metrics && desk.metrics && (await serveMetrics(metrics, desk.metrics, logger));
  const name = host.includes(':') ? `[${host}]` : host;
  const base = publicUrl ?? `http://${name === '0.0.0.0' || name === '[::]' ? 'localhost' : name}:${taken}`;
  if (publicUrl !== undefined) logger.info({ host, port: taken }, 'the console listens');
  return {
    newAddress: (used?: () => void): string =>
      signIn ? base : `${base}/enter?token=${sessions.issueToken(used)}`,
    close: async (): Promise<void> => {
      pages.close();
      await server.close(CLOSE_WITHIN_MS);
      await served?.close();
      await parts.audit.background.close();
    },
  };
};
