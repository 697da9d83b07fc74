import type { DecisionDeadLetters } from '../../application/ports/decision-source.ts';
import {
  NO_METRICS,
  UNWATCHED_ATTEMPTS,
  UNWATCHED_COMMANDS,
  UNWATCHED_REQUESTS,
} from '../../application/ports/observation.ts';
import type {
  AttemptWatch,
  CommandWatch,
  RequestWatch,
  WebhookMetrics,
} from '../../application/ports/observation.ts';
import type { BusinessClock } from '../../application/ports/clock.ts';
import type { PublicEvent } from '../../application/ports/event-bus.ts';
import type { EventSubscription, RecordedEvent } from '../../application/ports/event-store.ts';
import type { Logger } from '../../application/ports/logger.ts';
import { loanStream } from '../../application/command-handling/operation.ts';
import { API_VERSION } from '../http/openapi/version.ts';
import {
  LoggedAttempts,
  ObservedCommands,
  ObservedRequests,
  observedDeadLetters,
  observedSweep,
} from '../observability/observed-work.ts';
import type { Sweep } from '../observability/observed-work.ts';
import { observedEventStore, observedSql } from '../observability/observed-stores.ts';
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

export type Translate = (recorded: readonly RecordedEvent[]) => Promise<readonly PublicEvent[]>;

/** What turns the work of this thread into metrics, spans and log lines. */
export interface Observability {
  readonly requests: RequestWatch;
  readonly commands: CommandWatch;
  readonly attempts: AttemptWatch;
  readonly webhooks: WebhookMetrics;
  /** Undefined when metrics are off. */
  readonly metrics: ServiceMetrics | undefined;
  readonly tracer: Tracer;
  readonly engines: (engines: Engines) => Engines;
  /** A follower of the log, under a name that is its own. */
  readonly follower: (name: string, subscription: EventSubscription) => EventSubscription;
  readonly translation: (translate: Translate) => Translate;
  readonly sweep: (sweep: Sweep) => Sweep;
  readonly deadLetters: (letters: DecisionDeadLetters) => DecisionDeadLetters;
}

/** For the command line, which does one thing and ends. */
export const UNOBSERVED: Observability = {
  requests: UNWATCHED_REQUESTS,
  commands: UNWATCHED_COMMANDS,
  attempts: UNWATCHED_ATTEMPTS,
  webhooks: NO_METRICS,
  metrics: undefined,
  tracer: NO_TRACER,
  engines: (engines) => engines,
  follower: (_, subscription) => subscription,
  translation: (translate) => translate,
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
    attempts: new LoggedAttempts(
      tracer.active ? new TracedAttempts(traces, tracer) : UNWATCHED_ATTEMPTS,
      logger,
    ),
    webhooks: metrics?.webhooks ?? NO_METRICS,
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
    translation: (translate) => (tracer.active ? tracedTranslation(translate, traces) : translate),
    sweep: (sweep) => observedSweep(sweep, metrics?.work),
    deadLetters: (letters) => observedDeadLetters(letters, metrics?.work),
  };
};
