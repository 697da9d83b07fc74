import { messageOf } from '../support/failures.ts';
import type { ProjectedEvent, Projection, TableWrite } from '../../projections/projection.ts';
import type { RecordedEvent } from '../ports/event-store.ts';
import type { QuarantinedStream } from '../ports/read-models.ts';

export interface Step {
  readonly event: RecordedEvent;
  readonly writes: readonly TableWrite[];
  /** It changes no rows for now; `reason` where it is the one that put its operation into quarantine. */
  readonly waits?: { readonly reason?: string };
}
export interface ProjectedBatch {
  /** One for each event before the first that failed for good; events of no interest have no writes. */
  readonly steps: readonly Step[];
  readonly poison?: { readonly event: RecordedEvent; readonly cause: unknown };
}

/** One row for each operation that waits, beside the rows of its projection, so that both change in one transaction. */
export const QUARANTINE_TABLE = 'quarantined_operation';
/** Where more operations would have to wait, it is the program that is wrong and not their events. */
const MOST_OPERATIONS = 100;
/** Of operations. Events of renegotiations write rows of several, which would read as if nothing had happened. */
const OPERATION_PREFIX = 'loan-';

/** The operations whose rows it touches. */
export const streamsOf = (write: TableWrite): readonly string[] =>
  (write.op === 'insert' ? write.rows : [write.where]).map(({ stream }) => String(stream));

/** Which operations wait, for one projection, and what becomes of a batch of events with that. */
export class Quarantine {
  readonly #projection: Projection;
  readonly #decode: (event: RecordedEvent) => ProjectedEvent | undefined;
  #waiting = new Set<string>();

  constructor(projection: Projection, decode: (event: RecordedEvent) => ProjectedEvent | undefined) {
    this.#projection = projection;
    this.#decode = decode;
  }

  get size(): number {
    return this.#waiting.size;
  }

  /** What is stored counts; to be called whenever it may be another than the one known here. */
  load(stored: readonly Pick<QuarantinedStream, 'stream'>[]): void {
    this.#waiting = new Set(stored.map(({ stream }) => stream));
  }

  has(stream: string): boolean {
    return this.#waiting.has(stream);
  }

  /** Decoding and projecting are pure: what fails once fails always, so the operation of that event waits, and the others go on. */
  batch(events: readonly RecordedEvent[]): ProjectedBatch {
    const steps: Step[] = [];
    for (const event of events) {
      const step = this.#step(event);
      if ('cause' in step) return { steps, poison: step };
      steps.push(step);
    }
    return { steps };
  }

  /** What is stored instead of writes that the store refuses; undefined when only a person can help. */
  instead({ event }: Step, cause: unknown): Step | undefined {
    const { stream, revision, type, position } = event;
    const mayWait = stream.startsWith(OPERATION_PREFIX) && this.#waiting.size < MOST_OPERATIONS;
    if (!mayWait || this.has(stream)) return undefined;
    this.#waiting.add(stream);
    const reason = messageOf(cause);
    const row = {
      ...{ projection: this.#projection.name, stream, revision: Number(revision) },
      ...{ event_type: type, position, reason, waiting: 1 },
    };
    return { event, writes: [{ op: 'insert', table: QUARANTINE_TABLE, rows: [row] }], waits: { reason } };
  }

  /** An event of an operation that waits already: counted, and a released operation is noticed. */
  waitingStep(event: RecordedEvent): Step {
    const where = { projection: this.#projection.name, stream: event.stream };
    const write = { op: 'update', table: QUARANTINE_TABLE, where, set: {}, add: { waiting: 1 }, expect: 1 };
    return { event, writes: [write as TableWrite], waits: {} };
  }

  #step(event: RecordedEvent): Step | { readonly event: RecordedEvent; readonly cause: unknown } {
    if (this.has(event.stream)) return this.waitingStep(event);
    try {
      const projected = this.#decode(event);
      const writes = projected ? this.#projection.project(projected) : [];
      if (this.#waiting.size > 0) this.#refuseRowsOfWaiting(writes);
      return { event, writes };
    } catch (cause) {
      return this.instead({ event, writes: [] }, cause) ?? { event, cause };
    }
  }

  #refuseRowsOfWaiting(writes: readonly TableWrite[]): void {
    const waiting = writes.flatMap(streamsOf).find((stream) => this.has(stream));
    if (waiting !== undefined) throw new Error(`it writes rows of ${waiting}, which is in quarantine`);
  }
}

/** Writes of the release of an operation: `from` must still be the first event that waits. */
export const releaseWrite = ({ name }: Projection, { stream, revision }: QuarantinedStream): TableWrite => ({
  op: 'delete',
  table: QUARANTINE_TABLE,
  where: { projection: name, stream, revision: Number(revision) },
  expect: 1,
});

/** An event that this projection can never take, and that cannot wait alone; other projections go on. */
export class PoisonEventError extends Error {
  override readonly name = 'PoisonEventError';
  readonly event: RecordedEvent;

  constructor(event: RecordedEvent, cause: unknown) {
    const reason = messageOf(cause);
    super(`event ${event.revision} of ${event.stream} (${event.type}) cannot be projected: ${reason}`, {
      cause,
    });
    this.event = event;
  }
}
