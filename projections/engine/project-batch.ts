import type { ProjectedEvent, Projection, TableWrite } from './projection.ts';
import type { StoredEvent } from './projector-ports.ts';

export interface Step<Event> {
  readonly event: Event;
  readonly writes: readonly TableWrite[];
}
export interface ProjectedBatch<Event> {
  /** One for each event before the first that failed; events of no interest have no writes. */
  readonly steps: readonly Step<Event>[];
  readonly poison?: { readonly event: Event; readonly cause: unknown };
}

/** Decoding and projecting are pure: what fails once fails always, so the batch ends before it. */
export const projectBatch = <Event extends StoredEvent<string>>(
  projection: Projection,
  decode: (event: Event) => ProjectedEvent | undefined,
  events: readonly Event[],
): ProjectedBatch<Event> => {
  const steps: Step<Event>[] = [];
  for (const event of events) {
    try {
      const projected = decode(event);
      steps.push({ event, writes: projected ? projection.project(projected) : [] });
    } catch (cause) {
      return { steps, poison: { event, cause } };
    }
  }
  return { steps };
};

/** An event that this projection can never take; it waits for a person, and other projections go on. */
export class PoisonEventError extends Error {
  override readonly name = 'PoisonEventError';
  readonly event: StoredEvent<string>;

  constructor(event: StoredEvent<string>, cause: unknown) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    super(`event ${event.revision} of ${event.stream} (${event.type}) cannot be projected: ${reason}`, {
      cause,
    });
    this.event = event;
  }
}
