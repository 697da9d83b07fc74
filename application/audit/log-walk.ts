import type { AuditNotes, StreamHead, StreamNote } from './audit-notes.ts';
import { DamagedStoreError, StoreUnavailableError } from '../ports/event-store.ts';
import type { EventSubscription, LogPosition, RecordedEvent } from '../ports/event-store.ts';
import { answerWithin } from '../support/retry.ts';
import type { Pause } from '../support/retry.ts';
import { telling } from './difference.ts';
import type { Report } from './difference.ts';

interface Dependencies {
  readonly subscription: EventSubscription;
  readonly sleep: Pause;
}

/** An adapter that cannot read tries for ever. On a busy machine so long a silence is no more than that, so it is asked again. */
const SILENCE_MS = 30_000;
const BATCH = 1_000;
const MOST_FAILURES = 5;
const PAUSE_MS = 500;
const NEVER = new AbortController().signal;

/** From a place to the end as it is then. A silent log is no difference. */
export class LogWalk {
  readonly #deps: Dependencies;
  #position: LogPosition | 'start';

  constructor(dependencies: Dependencies, from: LogPosition | 'start' = 'start') {
    this.#deps = dependencies;
    this.#position = from;
  }

  /** Goes on from where it ended last time. @throws StoreUnavailableError the store is away, or silent, each time that it is asked @throws DamagedStoreError at once */
  async *toTheEnd(): AsyncGenerator<readonly RecordedEvent[]> {
    for (let [failures, failedAt] = [0, this.#position]; ;) {
      try {
        yield* this.#read();
        return;
      } catch (error) {
        if (error instanceof DamagedStoreError || !(error instanceof StoreUnavailableError)) throw error;
        failures = failedAt === this.#position ? failures + 1 : 1;
        failedAt = this.#position;
        if (failures > MOST_FAILURES) throw error;
        await this.#deps.sleep(failures * PAUSE_MS, NEVER);
      }
    }
  }

  async *#read(): AsyncGenerator<readonly RecordedEvent[]> {
    const stopping = new AbortController();
    const { signal } = stopping;
    const options = { from: this.#position, batchSize: BATCH, signal };
    const messages = this.#deps.subscription.subscribe(options)[Symbol.asyncIterator]();
    try {
      for (;;) {
        const patience = { pause: this.#deps.sleep, signal, ms: SILENCE_MS };
        const next = await answerWithin(patience, messages.next());
        if (!next)
          throw new StoreUnavailableError(
            `the event log gave no answer for ${SILENCE_MS / 1_000} s after position ${this.#position}`,
          );
        if (next.done || next.value.kind === 'caught_up') return;
        this.#position = next.value.checkpoint;
        if (next.value.kind === 'events') yield next.value.events;
      }
    } finally {
      stopping.abort();
    }
  }
}

const EXPORT_FORMAT = 'receivables-audit-export/1';

/** The members in the order in which `chainHash` takes them; `docs/audit.md` tells others, so they never change. */
const lineOf = ({ stream, revision, id, type, data, metadata }: RecordedEvent): string => {
  const { idempotency } = metadata;
  return JSON.stringify({
    stream,
    revision: Number(revision),
    id,
    type,
    data,
    correlation_id: metadata.correlationId,
    causation_id: metadata.causationId,
    actor: metadata.actor,
    application_id: metadata.applicationId,
    recorded_at: metadata.recordedAt,
    ...(idempotency && {
      idempotency_endpoint: idempotency.endpoint,
      idempotency_key: idempotency.key,
      idempotency_fingerprint: idempotency.fingerprint,
    }),
    ...(metadata.fundId !== undefined && { fund_id: metadata.fundId }),
    hash: metadata.hash,
  });
};

/** The last line counts, so that half of an export is not taken for one. */
export async function* exportLines(takenAt: string, walk: LogWalk): AsyncGenerator<string> {
  yield `${JSON.stringify({ format: EXPORT_FORMAT, taken_at: takenAt })}\n`;
  let exported = 0;
  for await (const events of walk.toTheEnd()) {
    exported += events.length;
    yield events.map((event) => `${lineOf(event)}\n`).join('');
  }
  yield `${JSON.stringify({ events: exported })}\n`;
}

const UNSEEN: StreamNote = { inLog: 0, read: -1, hash: '', payments: 0, inFeed: 0 };

export class AuditedStreams {
  readonly #notes: AuditNotes;

  constructor(notes: AuditNotes) {
    this.#notes = notes;
  }

  has(stream: string): boolean {
    return this.#notes.stream(stream) !== undefined;
  }

  add(stream: string): void {
    this.#notes.noteStream(stream, UNSEEN);
  }

  /** Takes one event of the log; true for the first of a stream. Revisions stand in the log in their order. */
  meet({ stream, revision }: RecordedEvent, report: Report): boolean {
    const audited = this.#notes.stream(stream);
    const { inLog } = audited ?? UNSEEN;
    const found = Number(revision);
    if (found !== inLog)
      telling(report, 'log', { stream, revision })(
        'order in the log',
        `revision ${inLog}`,
        `revision ${found}`,
      );
    this.#notes.noteStream(stream, { ...(audited ?? UNSEEN), inLog: found + 1 });
    return audited === undefined;
  }

  verified(
    stream: string,
    events: readonly RecordedEvent[],
    rows: Pick<StreamNote, 'payments' | 'inFeed'>,
  ): void {
    const audited = this.#notes.stream(stream);
    if (!audited) return;
    const hash = events.at(-1)?.metadata.hash ?? '';
    this.#notes.noteStream(stream, { inLog: audited.inLog, read: events.length, hash, ...rows });
  }

  /** What the log gives for tables that do not lie by operation; undefined for a stream that could not be read, whose rows nothing can be said about. */
  rowsOf(stream: string): Pick<StreamNote, 'payments' | 'inFeed'> | undefined {
    const audited = this.#notes.stream(stream);
    return audited && audited.read >= 0 ? audited : undefined;
  }

  /** Whether the log has still to show events that their streams hold. */
  get areBehind(): boolean {
    for (const [, { inLog, read }] of this.#notes.streams()) if (inLog < read) return true;
    return false;
  }

  /** To be called when the log was walked to its end after the streams were read. */
  checkLog(report: Report): void {
    for (const [stream, { inLog, read }] of this.#notes.streams()) {
      if (inLog < read)
        telling(report, 'log', { stream, revision: null })('events in the log', `${read}`, `${inLog}`);
    }
  }

  *heads(): Generator<StreamHead> {
    for (const [stream, { read, hash }] of this.#notes.streams())
      if (read > 0) yield { stream, revision: read - 1, hash };
  }
}
