import type { ProjectedEvent, Projection, TableWrite } from '../../projections/projection.ts';
import { LOAN_STREAM_PREFIX } from '../command-handling/operation.ts';
import type { RecordedEvent } from '../ports/event-store.ts';
import type { QuarantinedStream } from '../ports/read-models.ts';
import { messageOf } from '../support/failures.ts';
import { namesRenegotiation, operationsNamedBy, renegotiationIdOf } from './renegotiation-ties.ts';

export interface Step {
  readonly event: RecordedEvent;
  readonly writes: readonly TableWrite[];
  /** It changes no rows for now; `reason` where it is the one that put its stream, and those in `along`, into quarantine. */
  readonly waits?: { readonly reason?: string; readonly along?: readonly string[] };
}
export interface ProjectedBatch {
  /** One for each event before the first that failed for good; events of no interest have no writes. */
  readonly steps: readonly Step[];
  readonly poison?: { readonly event: RecordedEvent; readonly cause: unknown };
}

/** One row for each operation or renegotiation that waits, beside the rows of its projection, so that both change in one transaction. */
export const QUARANTINE_TABLE = 'quarantined_operation';
/** Where more of them would have to wait, it is the program that is wrong and not their events. */
const MOST_STREAMS = 100;

const isOperation = (stream: string): boolean => stream.startsWith(LOAN_STREAM_PREFIX);

/** The operations whose rows it touches. */
export const streamsOf = (write: TableWrite): readonly string[] =>
  (write.op === 'insert' ? write.rows : [write.where]).map(({ stream }) => String(stream));

/** An event that could be taken, but for others that wait. */
class TiedToWaitingError extends Error {
  override readonly name = 'TiedToWaitingError';
  readonly streams: readonly string[];
  constructor(reason: string, streams: readonly string[]) {
    super(reason);
    this.streams = streams;
  }
}

/**
 * Which operations and renegotiations wait, for one projection, and what becomes of a batch of events with that. A renegotiation that
 * waits keeps its operations waiting with it, those that its event names at once and any other from its next event that names the
 * renegotiation on: no reader sees a half.
 */
export class Quarantine {
  readonly #projection: Projection;
  readonly #decode: (event: RecordedEvent) => ProjectedEvent | undefined;
  readonly #waiting = new Set<string>();

  constructor(projection: Projection, decode: (event: RecordedEvent) => ProjectedEvent | undefined) {
    this.#projection = projection;
    this.#decode = decode;
  }

  get size(): number {
    return this.#waiting.size;
  }

  /** What is stored counts; to be called whenever it may be another than the one known here. */
  load(stored: readonly Pick<QuarantinedStream, 'stream'>[]): void {
    this.#waiting.clear();
    for (const { stream } of stored) this.#waiting.add(stream);
  }

  has(stream: string): boolean {
    return this.#waiting.has(stream);
  }

  /** Decoding and projecting are pure: what fails once fails always, so the stream of that event waits, and the others go on. */
  batch(events: readonly RecordedEvent[]): ProjectedBatch {
    const steps: Step[] = [];
    for (const event of events) {
      const step = this.#step(event);
      if ('cause' in step) return { steps, poison: step };
      steps.push(step);
    }
    return { steps };
  }

  /** Takes back what a batch put into quarantine, of which nothing was stored; each of its events is then looked at `alone`. */
  takeBack(steps: readonly Step[]): void {
    for (const { event, waits } of steps)
      if (waits?.reason !== undefined)
        for (const stream of [event.stream, ...(waits.along ?? [])]) this.#waiting.delete(stream);
  }

  /** The step of one event, after those before it are stored. @throws PoisonEventError */
  alone(event: RecordedEvent): Step {
    const step = this.#step(event);
    if ('cause' in step) throw new PoisonEventError(event, step.cause);
    return step;
  }

  /** What is stored instead of writes that the store refuses; undefined when only a person can help. */
  instead({ event, writes }: Step, cause: unknown): Step | undefined {
    const { stream } = event;
    const isRenegotiation = renegotiationIdOf(stream) !== undefined;
    const mayWait = isRenegotiation || isOperation(stream);
    if (!mayWait || this.has(stream) || this.#waiting.size >= MOST_STREAMS) return undefined;
    const named = isRenegotiation ? [...operationsNamedBy(event), ...writes.flatMap(streamsOf)] : [];
    const along = [...new Set(named)].filter((one) => !this.has(one));
    const reasons = cause instanceof TiedToWaitingError ? cause.streams : [];
    // What is known here may be released meanwhile: then nothing of this is stored, and the projection looks again.
    const still = [...new Set([...reasons, ...named])].filter((one) => this.has(one));
    const reason = messageOf(cause);
    const rows = [
      this.#row(event, stream, reason, 1),
      ...along.map((one) => this.#row(event, one, `waits with ${stream}: ${reason}`, 0)),
    ];
    for (const one of [stream, ...along]) this.#waiting.add(one);
    const insert: TableWrite = { op: 'insert', table: QUARANTINE_TABLE, rows };
    const kept = still.map((one) => this.#count(one, 0));
    return { event, writes: [...kept, insert], waits: { reason, ...(along.length > 0 && { along }) } };
  }

  #step(event: RecordedEvent): Step | { readonly event: RecordedEvent; readonly cause: unknown } {
    const { stream } = event;
    // An event of a stream that waits already is counted; so a release is noticed.
    if (this.has(stream)) return { event, writes: [this.#count(stream, 1)], waits: {} };
    let writes: readonly TableWrite[] = [];
    if (this.#projection.ofOperationsAlone && !isOperation(stream)) return { event, writes };
    try {
      if (this.#waiting.size > 0) this.#refuseOfWaitingRenegotiation(event);
      const projected = this.#decode(event);
      writes = projected ? this.#projection.project(projected) : [];
      if (this.#waiting.size > 0) this.#refuseRowsOfWaiting(writes);
      return { event, writes };
    } catch (cause) {
      return this.instead({ event, writes }, cause) ?? { event, cause };
    }
  }

  #refuseOfWaitingRenegotiation(event: RecordedEvent): void {
    if (!isOperation(event.stream)) return;
    for (const stream of this.#waiting) {
      const id = renegotiationIdOf(stream);
      if (id !== undefined && namesRenegotiation(event, id))
        throw new TiedToWaitingError(`it belongs to ${stream}, which is in quarantine`, [stream]);
    }
  }

  #refuseRowsOfWaiting(writes: readonly TableWrite[]): void {
    const waiting = new Set(writes.flatMap(streamsOf).filter((stream) => this.has(stream)));
    const [first] = waiting;
    if (first === undefined) return;
    throw new TiedToWaitingError(`it writes rows of ${first}, which is in quarantine`, [...waiting]);
  }

  #row({ revision, type, position }: RecordedEvent, stream: string, reason: string, waiting: number) {
    const row = { projection: this.#projection.name, stream, revision: Number(revision) };
    return { ...row, event_type: type, position, reason, waiting };
  }

  #count(stream: string, waiting: number): TableWrite {
    const where = { projection: this.#projection.name, stream };
    return { op: 'update', table: QUARANTINE_TABLE, where, set: {}, add: { waiting }, expect: 1 };
  }
}

/** Writes of the release of a stream: `from` must still be the event that keeps it waiting. */
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
