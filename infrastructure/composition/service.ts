import type { Worker } from 'node:worker_threads';
import { join } from 'node:path';
import type { Parts } from './parts.ts';
import { publicReadiness, healthApp } from '../http/server/health-app.ts';
import { HttpListener } from '../http/server/http-server.ts';
import { BackgroundThread } from './background/background-thread.ts';
import type { Configuration, Role } from './configuration.ts';
import type { Foundations } from './foundations.ts';
import { serveMetrics } from '../observability/metrics-server.ts';
import { checksWith } from './readiness.ts';
import { startWork } from './work.ts';
import type { Work } from './work.ts';
import type { Logger } from '../../application/ports/logger.ts';
import { ClientDirectory } from '../../application/clients/client-directory.ts';
import { SqlRateBuckets } from '../../application/clients/rate-buckets.ts';
import { createHttpApp } from '../http/app.ts';
import { UploadArea } from '../http/bodies/uploads.ts';
import { HttpProblem } from '../http/errors/http-problem.ts';
import { SharedTokenBucketLimiter, TokenBucketLimiter } from '../http/limits/rate-limiter.ts';
import type { RateLimiter } from '../http/limits/rate-limiter.ts';
import type { Readiness } from '../http/server/health-app.ts';
import { HashedClientAuthenticator } from '../security/client-secrets.ts';
import { cacheBytes } from './cache-shares.ts';
import { keepsFiles, sharesStores } from './engines.ts';

/** In one process it counts by itself; processes that share their stores count together. */
const rateLimiterOf = ({ configuration, serviceDatabase, logger }: Parts): RateLimiter => {
  const local = new TokenBucketLimiter(Date.now, cacheBytes(configuration, 'rateBuckets'));
  if (!sharesStores(configuration)) return local;
  const buckets = new SqlRateBuckets(serviceDatabase);
  return new SharedTokenBucketLimiter({ buckets, local, logger, now: () => performance.now() });
};

const wholeInterface = async (parts: Parts, readiness: () => Promise<Readiness>, limiter: RateLimiter) => {
  const { configuration, clock, logger, observability } = parts;
  const uploads = await UploadArea.open(join(configuration.dataDir, 'uploads'));
  const { tokens, clientRegistry, formats } = parts;
  const listener = await createHttpApp({
    settings: configuration,
    app: parts,
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
  return { listener, limiter, endWaiting: () => uploads.endWaiting(), close: () => uploads.close() };
};

/** With the role `api` the whole interface; without it only the health checks. To be closed when the last request has been answered. */
const httpInterface = async (parts: Parts, readiness: () => Promise<Readiness>) => {
  const limiter = rateLimiterOf(parts);
  if (parts.configuration.roles.includes('api')) return wholeInterface(parts, readiness, limiter);
  const listener = healthApp({
    readiness,
    otherwise: () => new HttpProblem('not_found', 'This process does not serve the interface.'),
  });
  return { listener, limiter, endWaiting: () => undefined, close: async () => undefined };
};

/** Requests get most of the ten seconds that a stop may take; the rest is for what runs beside them. */
const REQUEST_GRACE_MS = 6_000;
/** What has found no place by then would not be done in time. */
const WAITING_GRACE_MS = 4_000;

interface ServiceOptions {
  /** Where it is to be reached; default: a listener of its own. `stop` closes either. */
  readonly listener?: HttpListener;
  /** Where the roles run that follow the log, when an engine is embedded in this process: beside the requests, or in their thread. */
  readonly background?: 'thread' | 'here';
  /** A thread that has begun to load, for the background roles; ended when no thread is needed. */
  readonly worker?: Worker | undefined;
}

interface Closing {
  close(): Promise<void>;
}

/** Where engines are shared, roles are told apart by processes; an embedded one has a single process, so threads do it. */
const rolesApart = (configuration: Configuration, background: 'thread' | 'here'): readonly Role[] =>
  background === 'thread' && keepsFiles(configuration)
    ? configuration.roles.filter((role) => role !== 'api')
    : [];

/** Metrics of this thread and of the one beside it; undefined when they are off. */
const openMetrics = async (
  { scrape }: Work,
  { metrics }: Configuration,
  thread: BackgroundThread | undefined,
  logger: Logger,
): Promise<Closing | undefined> => {
  if (!scrape || !metrics) return undefined;
  const { contentType } = scrape;
  return serveMetrics({ contentType, text: () => scrape.text(thread?.ask('metrics')) }, metrics, logger);
};

/**
 * Starts every role of the configuration.
 * @throws what the listening address says, after closing what was opened
 */
export const startService = async (
  foundations: Foundations,
  { listener, background = 'here', worker }: ServiceOptions = {},
) => {
  const { configuration, logger } = foundations;
  const apart = rolesApart(configuration, background);
  const here: Configuration = {
    ...configuration,
    roles: configuration.roles.filter((role) => !apart.includes(role)),
  };
  const startThread = async (): Promise<BackgroundThread | undefined> => {
    if (apart.length === 0) return void (await worker?.terminate());
    const log = foundations.embeddedLog;
    return BackgroundThread.start({ configuration: { ...configuration, roles: apart }, logger, log, worker });
  };
  let thread: BackgroundThread | undefined;
  const work = await startWork({
    ...foundations,
    configuration: here,
    speaks: true,
    ...(apart.length > 0 && {
      onQueued: (webhookIds) => thread?.queued(webhookIds),
      beside: () => ({ background: thread ? (thread.down ?? 'ok') : 'it starts' }),
    }),
  });
  // It opens its engines while this thread makes the interface.
  const starting = startThread();
  starting.catch(() => undefined);
  let address = listener;
  let served: Awaited<ReturnType<typeof httpInterface>> | undefined;
  let metrics: Closing | undefined;
  /** Stops accepting, finishes what is in flight, closes the stores. */
  const stop = async (): Promise<void> => {
    const waited = setTimeout(() => served?.endWaiting(), WAITING_GRACE_MS);
    // Roles that another process can take over stop first; what requests wait for stops after they are answered.
    await Promise.all([work.stopLeased(), address?.close(REQUEST_GRACE_MS)]);
    clearTimeout(waited);
    await served?.close();
    const running = await starting.catch(() => undefined);
    await Promise.all([running?.stop(), work.stop()]);
    await metrics?.close();
    await foundations.close();
  };
  try {
    const readiness = publicReadiness(() => checksWith(work.checks(), thread), logger);
    served = await httpInterface(work.parts, readiness);
    thread = await starting;
    metrics = await openMetrics(work, configuration, thread, logger);
    address ??= await HttpListener.open(configuration, logger);
    address.serve(served.listener, served.limiter);
  } catch (error) {
    await stop();
    throw error;
  }
  return { parts: work.parts, stop };
};
