import type { DecisionDeadLetters } from '../../application/ports/decision-source.ts';
import { UNWATCHED_COMMANDS, UNWATCHED_REQUESTS } from '../../application/ports/observation.ts';
import type {
  AttemptWatch,
  CommandWatch,
  RequestWatch,
  WebhookMetrics,
} from '../../application/ports/observation.ts';
import type { BusinessClock } from '../../application/ports/clock.ts';
import type { EventSubscription } from '../../application/ports/event-store.ts';
import type { Logger } from '../../application/ports/logger.ts';
import type { Translator } from '../../application/publishing/public-event-translator.ts';
import { loanStream } from '../../application/command-handling/operation.ts';
import { API_VERSION } from '../http/openapi/version.ts';
import {
  LoggedAttempts,
  ObservedCommands,
  ObservedRequests,
  observedEventStore,
} from '../observability/observed-work.ts';
import { observedSql } from '../observability/observed-sql.ts';
import { observedDeadLetters, observedSweep } from '../observability/metrics/work-metrics.ts';
import type { Sweep } from '../observability/metrics/work-metrics.ts';
import { ServiceMetrics } from '../observability/service-metrics.ts';
import {
  EventTraces,
  TracedAttempts,
  tracedBus,
  tracedTranslation,
} from '../observability/tracing/traced-publishing.ts';
import { NO_TRACER } from '../observability/tracing/tracer.ts';
import type { Tracer } from '../observability/tracing/tracer.ts';
import type { Configuration, Role } from './configuration.ts';
import type { Engines } from './engines.ts';

/** What turns the work of this thread into metrics, spans and log lines. */
export interface Observability {
  readonly requests: RequestWatch;
  readonly commands: CommandWatch;
  readonly attempts: AttemptWatch | undefined;
  /** Undefined when metrics are off, like the other metrics. */
  readonly webhooks: WebhookMetrics | undefined;
  readonly metrics: ServiceMetrics | undefined;
  readonly tracer: Tracer;
  readonly engines: (engines: Engines) => Engines;
  /** A follower of the log, under a name that is its own. */
  readonly follower: (name: string, subscription: EventSubscription) => EventSubscription;
  readonly translation: (translator: Translator) => Translator;
  readonly sweep: (sweep: Sweep) => Sweep;
  readonly deadLetters: (letters: DecisionDeadLetters) => DecisionDeadLetters;
}

/** For the command line, which does one thing and ends. */
export const UNOBSERVED: Observability = {
  requests: UNWATCHED_REQUESTS,
  commands: UNWATCHED_COMMANDS,
  attempts: undefined,
  webhooks: undefined,
  metrics: undefined,
  tracer: NO_TRACER,
  engines: (engines) => engines,
  follower: (_, subscription) => subscription,
  translation: (translator) => translator,
  sweep: (sweep) => sweep,
  deadLetters: (letters) => letters,
};

/** The tracing library is only loaded where traces are switched on. */
const openTracer = async ({ tracing }: Configuration, logger: Logger): Promise<Tracer> => {
  if (!tracing) return NO_TRACER;
  const { OtlpTracer } = await import('../observability/tracing/otlp-tracer.ts');
  const resource = { 'service.version': API_VERSION, ...tracing.resource };
  return new OtlpTracer({ ...tracing, resource }, logger);
};

export interface ObservabilityOptions {
  readonly clock: BusinessClock;
  readonly logger: Logger;
  /** Undefined in a thread beside the one that speaks for the process. */
  readonly processRoles: readonly Role[] | undefined;
}

export const openObservability = async (
  configuration: Configuration,
  { eventStore }: Engines,
  { clock, logger, processRoles }: ObservabilityOptions,
): Promise<Observability> => {
  const { environment } = configuration;
  const about = processRoles && { version: API_VERSION, environment, roles: processRoles.join(',') };
  const metrics = configuration.metrics && new ServiceMetrics(about, clock);
  const tracer = await openTracer(configuration, logger);
  const traces = new EventTraces(eventStore, loanStream);
  return {
    requests: new ObservedRequests({ metrics: metrics?.requests, tracer, logger }),
    commands: new ObservedCommands(metrics?.commands, tracer),
    attempts: new LoggedAttempts(tracer.active ? new TracedAttempts(traces, tracer) : undefined, logger),
    webhooks: metrics?.webhooks,
    metrics,
    tracer,
    engines: (engines) => ({
      ...engines,
      eventStore: observedEventStore(engines.eventStore, { metrics: metrics?.stores, tracer, logger }),
      ...(tracer.active && { eventBus: tracedBus(engines.eventBus, traces, tracer) }),
      ...(metrics && {
        serviceDatabase: observedSql(engines.serviceDatabase, 'service', metrics.stores),
        readModelDatabase: observedSql(engines.readModelDatabase, 'read_model', metrics.stores),
      }),
    }),
    follower: (name, subscription) => metrics?.followers.watch(name, subscription) ?? subscription,
    translation: (translator) => (tracer.active ? tracedTranslation(translator, traces) : translator),
    sweep: (sweep) => (metrics ? observedSweep(sweep, metrics.work) : sweep),
    deadLetters: (letters) => (metrics ? observedDeadLetters(letters, metrics.work) : letters),
  };
};
