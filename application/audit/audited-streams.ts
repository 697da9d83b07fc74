import type { RecordedEvent } from '../ports/event-store.ts';
import type { Head } from './anchor.ts';
import type { Report } from './difference.ts';

/** What stays in memory of a stream: everything else of it is let go once it is verified. */
interface Audited {
  /** Its events that went by in the log. */
  inLog: number;
  /** Its events when it was read; -1 before that. */
  read: number;
  hash: string;
  payments: number;
}

/** Which streams there are, and how far each was seen. */
export class AuditedStreams {
  readonly #streams = new Map<string, Audited>();

  get size(): number {
    return this.#streams.size;
  }

  has(stream: string): boolean {
    return this.#streams.has(stream);
  }

  /** Adds a stream that the log did not show. */
  add(stream: string): void {
    this.#streams.set(stream, { inLog: 0, read: -1, hash: '', payments: 0 });
  }

  /** Takes one event of the log; true for the first of a stream. Revisions stand in the log in their order. */
  meet({ stream, revision }: RecordedEvent, report: Report): boolean {
    let audited = this.#streams.get(stream);
    const isNew = audited === undefined;
    if (!audited) this.#streams.set(stream, (audited = { inLog: 0, read: -1, hash: '', payments: 0 }));
    const found = Number(revision);
    if (found !== audited.inLog) {
      const place = { stream, revision: found, what: 'order in the log' };
      report({ kind: 'log', ...place, expected: `revision ${audited.inLog}`, found: `revision ${found}` });
    }
    audited.inLog = found + 1;
    return isNew;
  }

  verified(stream: string, events: readonly RecordedEvent[], payments: number): void {
    const audited = this.#streams.get(stream);
    if (!audited) return;
    audited.read = events.length;
    audited.hash = events.at(-1)?.metadata.hash ?? '';
    audited.payments = payments;
  }

  /** Payments in the log; undefined for a stream that could not be read, whose rows nothing can be said about. */
  paymentsOf(stream: string): number | undefined {
    const audited = this.#streams.get(stream);
    return audited && audited.read >= 0 ? audited.payments : undefined;
  }

  /** To be called when the log was walked to its end after the streams were read. */
  checkLog(report: Report): void {
    for (const [stream, { inLog, read }] of this.#streams) {
      if (inLog >= read) continue;
      const place = { stream, revision: null, what: 'events in the log' };
      report({ kind: 'log', ...place, expected: `${read}`, found: `${inLog}` });
    }
  }

  *heads(): Generator<Head> {
    for (const [stream, { read, hash }] of this.#streams)
      if (read > 0) yield { stream, revision: read - 1, hash };
  }
}
