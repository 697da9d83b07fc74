import type { BusinessClock } from '../../application/ports/clock.ts';
import type { EventStore, EventSubscription } from '../../application/ports/event-store.ts';
import type { Logger } from '../../application/ports/logger.ts';
import { UNWATCHED_COMMANDS, UNWATCHED_REQUESTS } from '../../application/ports/observation.ts';
import type { CommandWatch, EventStoreWatch, RequestWatch } from '../../application/ports/observation.ts';
import { API_VERSION } from '../http/openapi/version.ts';
import { observedCommands, observedEventStore, observedRequests } from '../observability/observed-work.ts';
import { ServiceMetrics } from '../observability/service-metrics.ts';
import { TracedEvents, NO_TRACER } from '../observability/tracing/tracer.ts';
import type { Tracer } from '../observability/tracing/tracer.ts';
import { cacheBytes } from './cache-shares.ts';
import type { Configuration } from './configuration.ts';

/** What turns the work of this thread into metrics, spans and log lines: the watches that its parts are handed. */
export interface Observability {
  readonly requests: RequestWatch;
  readonly commands: CommandWatch;
  readonly eventStore: EventStoreWatch | undefined;
  /** Undefined when they are off. */
  readonly metrics: ServiceMetrics | undefined;
  readonly tracer: Tracer;
  /** A follower of the log, under a name that is its own. */
  readonly follower: (name: string, subscription: EventSubscription) => EventSubscription;
}

/** For the command line, which does one thing and ends. */
export const UNOBSERVED: Observability = {
  requests: UNWATCHED_REQUESTS,
  commands: UNWATCHED_COMMANDS,
  eventStore: undefined,
  metrics: undefined,
  tracer: NO_TRACER,
  follower: (_, subscription) => subscription,
};

/** The tracing library is only loaded where traces are switched on. */
const openTracer = async ({ tracing }: Configuration, logger: Logger): Promise<Tracer> => {
  if (!tracing) return NO_TRACER;
  const { OtlpTracer } = await import('../observability/tracing/otlp-tracer.ts');
  const resource = { 'service.version': API_VERSION, ...tracing.resource };
  return new OtlpTracer({ ...tracing, resource }, logger);
};

interface Observed {
  readonly clock: BusinessClock;
  readonly logger: Logger;
  /** One thread speaks for the process; those beside it count what is their own. */
  readonly part: 'service' | 'background';
}

export const openObservability = async (
  configuration: Configuration,
  { clock, logger, part }: Observed,
): Promise<Observability> => {
  const { environment, roles } = configuration;
  const about =
    part === 'service' ? { version: API_VERSION, environment, roles: roles.join(',') } : undefined;
  const metrics = configuration.metrics && new ServiceMetrics(about, clock);
  const tracer = await openTracer(configuration, logger);
  const observers = { metrics, tracer, logger };
  return {
    requests: observedRequests(observers),
    commands: observedCommands(observers),
    eventStore: observedEventStore(observers),
    metrics,
    tracer,
    follower: (name, subscription) => metrics?.followers.watch(name, subscription) ?? subscription,
  };
};

/** What shows events on their way to the webhooks; undefined where nothing is traced. */
export const tracedEventsOf = (
  configuration: Configuration,
  { tracer }: Observability,
  events: EventStore,
): TracedEvents | undefined =>
  tracer.active ? new TracedEvents(events, tracer, cacheBytes(configuration, 'traces')) : undefined;
