import type { CommandWatch, WatchedCommand, WatchedResult } from '../../application/ports/observation.ts';
import { OutcomeUnknownError, StoreUnavailableError } from '../../application/ports/event-store.ts';
import { DomainError } from '../../domain/shared/domain-error.ts';
import type { CommandMetrics, CommandOutcome, CommandRole } from './metrics/command-metrics.ts';
import { traceIdOf } from './tracing/trace-ids.ts';
import type { NoteOnSpan, Tracer } from './tracing/tracer.ts';

const ROLES: Readonly<Record<string, CommandRole>> = {
  administrator: 'administrator',
  scheduler: 'scheduler',
};

const outcomeOf = ({ replayed, events = [] }: WatchedResult): CommandOutcome => {
  if (replayed) return 'replayed';
  return events.length > 0 ? 'stored' : 'unchanged';
};

const failureOf = (error: unknown): CommandOutcome => {
  if (error instanceof OutcomeUnknownError) return 'unknown';
  return error instanceof StoreUnavailableError ? 'unavailable' : 'failed';
};

/** Counts and traces commands. */
export class ObservedCommands implements CommandWatch {
  readonly #metrics: CommandMetrics | undefined;
  readonly #tracer: Tracer;

  constructor(metrics: CommandMetrics | undefined, tracer: Tracer) {
    this.#metrics = metrics;
    this.#tracer = tracer;
  }

  run<Result extends WatchedResult>(command: WatchedCommand, work: () => Promise<Result>): Promise<Result> {
    const role = ROLES[command.actor] ?? 'client';
    if (!this.#tracer.active) return this.#counted(role, work);
    const { stream, correlationId, causationId } = command;
    const attributes = {
      'receivables.stream': stream,
      'receivables.correlation_id': correlationId,
      ...(causationId !== undefined && { 'receivables.causation_id': causationId }),
      'receivables.role': role,
    };
    const traceId = traceIdOf(correlationId, stream);
    return this.#tracer.run({ name: 'command', kind: 'internal', traceId, attributes }, (note) =>
      this.#counted(role, work, note),
    );
  }

  async #counted<Result extends WatchedResult>(
    role: CommandRole,
    work: () => Promise<Result>,
    note?: NoteOnSpan,
  ): Promise<Result> {
    try {
      const result = await work();
      const outcome = outcomeOf(result);
      this.#metrics?.handled(role, outcome);
      note?.({ 'receivables.outcome': outcome });
      return result;
    } catch (error) {
      if (error instanceof DomainError) {
        this.#metrics?.refused(role, error.code);
        note?.({ 'receivables.outcome': 'refused', 'receivables.error_code': error.code });
      } else {
        this.#metrics?.handled(role, failureOf(error));
      }
      throw error;
    }
  }
}
