import { LOAN_STREAM_PREFIX, loanStream } from '../command-handling/operation.ts';
import type { StreamHead } from './audit-notes.ts';
import type { FrozenPeriod } from './frozen-events.ts';
import { PAYMENTS, isPlaced } from '../projecting/stored-rows.ts';
import { AuditBatch } from './audit-batch.ts';
import type { AuditStores } from './audit-batch.ts';
import { telling } from './difference.ts';
import type { Report } from './difference.ts';
import type { AuditedStreams } from './log-walk.ts';
import { placedRows } from './operation-audit.ts';

interface Dependencies extends AuditStores {
  readonly streams: AuditedStreams;
  readonly report: Report;
}

const PAGE = 2_000;
/** Each page of these walks over the whole table. */
const PAGE_OF_PLACED = 50_000;
/** Whole streams are held at a time. */
const STREAMS_AT_ONCE = 100;

export class Orphans {
  readonly #deps: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#deps = dependencies;
  }

  async *unseenStreams(heads: Iterable<StreamHead>): AsyncGenerator<readonly string[]> {
    let existing: string[] = [];
    for await (const stream of this.#unseen(heads)) {
      if (existing.includes(stream) || (await this.#deps.events.head(stream)) === 'no_stream') continue;
      existing.push(stream);
      if (existing.length < STREAMS_AT_ONCE) continue;
      yield existing;
      existing = [];
    }
    if (existing.length > 0) yield existing;
  }

  async *#unseen(heads: Iterable<StreamHead>): AsyncGenerator<string> {
    const { streams } = this.#deps;
    for (const { stream } of heads) if (!streams.has(stream)) yield stream;
    for await (const { stream } of this.#operationsIn('loan')) if (!streams.has(stream)) yield stream;
  }

  async checkRows(tables: readonly string[]): Promise<void> {
    const { streams, report } = this.#deps;
    for (const table of tables) {
      for await (const { stream, rows } of this.#operationsIn(table)) {
        const known = streams.has(stream);
        if (known && (!isPlaced(table) || rows <= countIn(table, streams.rowsOf(stream), rows))) continue;
        if (await this.#isExplained(stream, table, rows)) continue;
        const expected = known ? 'only what is in the log' : '(no such operation)';
        telling(report, 'read_model', { stream, revision: null })(table, expected, `${rows} row(s)`);
      }
    }
  }

  /** The operation may have come, or gone on, since the log was walked. */
  async #isExplained(stream: string, table: string, rows: number): Promise<boolean> {
    if (!stream.startsWith(LOAN_STREAM_PREFIX)) return false;
    if ((await this.#deps.events.head(stream)) === 'no_stream') return false;
    if (!isPlaced(table)) return true;
    const [audited] = await new AuditBatch(this.#deps).audit([stream]);
    return rows <= countIn(table, placedRows(audited?.operation), rows);
  }

  async *#operationsIn(table: string): AsyncGenerator<{ readonly stream: string; readonly rows: number }> {
    for (let after: string | number | undefined; ;) {
      const size = isPlaced(table) ? PAGE_OF_PLACED : PAGE;
      const page = await this.#deps.rows.operationsIn(table, after, size);
      yield* page;
      const last = page.at(-1);
      if (!last || page.length < size) return;
      after = last.place;
    }
  }

  /** @param matched frozen events from before `startedAt` that belong to events of the log; later ones are looked up */
  async checkDeliveries(startedAt: string, matched: number): Promise<void> {
    const { frozen, report } = this.#deps;
    const earlier = { before: startedAt };
    if ((await frozen.count(earlier)) > matched) await this.#findOrphanEvents(earlier);
    await this.#findOrphanEvents({ from: startedAt });
    for (let page = await frozen.misplacedDeliveries(undefined, PAGE); page.length > 0;) {
      for (const { deliveryId, eventId, code } of page) {
        const tell = telling(report, 'delivery', { stream: code ?? '', revision: null });
        tell(deliveryId, `a place in the order of event ${eventId}`, 'another');
      }
      page = await frozen.misplacedDeliveries(page.at(-1), PAGE);
    }
  }

  async #findOrphanEvents(period: FrozenPeriod): Promise<void> {
    const { frozen, report } = this.#deps;
    const batch = new AuditBatch(this.#deps);
    for (let after = ''; ;) {
      const page = await frozen.page(period, after, PAGE);
      const streams = new Set(page.map(({ applicationId, code }) => loanStream(applicationId, code)));
      const audited = await batch.audit([...streams]);
      const ids = new Set(
        audited.flatMap(({ operation }) => operation?.publicEvents.map(({ eventId }) => eventId) ?? []),
      );
      // A stream that cannot be read is reported already.
      const unreadable = new Set(audited.flatMap((one) => (one.operation ? [] : [one.stream])));
      for (const { eventId, name, applicationId, code } of page) {
        const stream = loanStream(applicationId, code);
        if (!ids.has(eventId) && !unreadable.has(stream))
          telling(report, 'delivery', { stream, revision: null })(eventId, '(no such event)', name);
      }
      const last = page.at(-1);
      if (!last || page.length < PAGE) return;
      after = last.eventId;
    }
  }
}

const countIn = (table: string, log: ReturnType<typeof placedRows> | undefined, otherwise: number): number =>
  (table === PAYMENTS ? log?.payments : log?.inFeed) ?? otherwise;
