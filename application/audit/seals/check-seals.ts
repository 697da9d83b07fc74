import type { Report } from '../difference.ts';
import type { LogPosition, RecordedEvent } from '../../ports/event-store.ts';
import type { SealHead, SealRecord, SqlSealBook } from './seal-book.ts';
import { SealedRange, headOf, macOfRecord } from './seal-log.ts';
import type { BookParts, SealMac } from './seal-log.ts';

export interface SealStores {
  readonly book: Pick<SqlSealBook, 'head' | 'page' | 'lastBegin'>;
  readonly keys: Pick<BookParts['keys'], 'find'>;
  /** What tells places in the log apart: later ones have higher numbers. */
  readonly numberOf: (position: LogPosition | 'start') => bigint;
}

interface Dependencies extends SealStores {
  readonly report: Report;
}

export type SealPlace = Pick<SealHead, 'number' | 'mac'>;

const PAGE = 1_000;
/** Where everything is broken, the first ones say it. */
const MOST_DIFFERENCES = 50;

const nameOf = ({ number, sealedAt }: SealRecord): string => `seal ${number} of ${sealedAt}`;

export class SealCheck {
  readonly #deps: Dependencies;
  readonly #anchor: SealPlace | undefined;
  #records: AsyncGenerator<SealRecord, void> | undefined;
  #begin = 0;
  #current: SealRecord | undefined;
  #limit = 0n;
  #after: LogPosition | 'start' = 'start';
  #closed = 0;
  #earlier: SealCheck['progress'] | undefined;
  #range = new SealedRange();
  #reported = 0;
  #anchored = false;
  #head: SealHead | undefined;
  readonly #coverage = { sealed: 0, found: 0, since: null as string | null, unsealed: 0 };

  /** @param anchor a place in the book that must still be there */
  constructor(dependencies: Dependencies, anchor: SealPlace | undefined) {
    this.#deps = dependencies;
    this.#anchor = anchor;
  }

  get head(): SealHead | undefined {
    return this.#head;
  }

  /** Whether events that were sealed before the check began have still to come. */
  get isBehind(): boolean {
    return this.#current !== undefined;
  }

  /** Of what is sealed, `found` was there already when sealing began: `since`, null where nothing is sealed. */
  get coverage() {
    return { ...this.#coverage };
  }

  /** Where a check that goes on later has to begin: behind the events of the last record that was compared with the log. */
  get progress() {
    const { sealed, found } = this.#coverage;
    const [begin, number, after, reported] = [this.#begin, this.#closed, this.#after, this.#reported];
    return { begin, number, after, sealed, found, reported };
  }

  /** To be called before the first event, which after an earlier check is the one behind that. */
  async start(earlier?: SealCheck['progress']): Promise<void> {
    if (earlier) this.#goOn(earlier);
    const { book, keys } = this.#deps;
    const [head, mac] = [await book.head(), await keys.find()];
    this.#head = head;
    if (mac === undefined && head === undefined) return;
    if (mac === undefined || head === undefined) {
      this.#differ(
        'the end of the seal book',
        'a head with its proof',
        mac ? '(nothing)' : 'a head without a key',
      );
      return;
    }
    this.#begin = await book.lastBegin();
    this.#records = this.#verified(mac, head);
    await this.#next();
  }

  async meet(events: readonly RecordedEvent[]): Promise<void> {
    for (const event of events) {
      const position = this.#current ? this.#deps.numberOf(event.position) : 0n;
      while (this.#current && position > this.#limit) await this.#close();
      if (!this.#current) {
        this.#coverage.unsealed += 1;
        continue;
      }
      this.#range.add(event);
      if (position === this.#limit) await this.#close();
    }
  }

  async end(): Promise<void> {
    while (this.#current) await this.#close();
    if (!this.#anchor || this.#anchored) return;
    const { number, mac } = this.#anchor;
    this.#report('anchor', `seal ${number}`, mac, '(no such seal)');
  }

  #goOn(earlier: SealCheck['progress']): void {
    this.#earlier = earlier;
    this.#closed = earlier.number;
    this.#after = earlier.after;
    this.#reported = earlier.reported;
    this.#coverage.sealed = earlier.sealed;
    this.#coverage.found = earlier.found;
  }

  async #close(): Promise<void> {
    const record = this.#current!;
    const [found, digest] = [this.#range.events, this.#range.digest()];
    if (found !== record.events || digest !== record.digest) {
      const what = `${nameOf(record)}: events after ${this.#after} through ${record.through}`;
      const text = (events: number, of: string): string => `${events} event(s), digest ${of.slice(0, 16)}`;
      this.#differ(what, text(record.events, record.digest), text(found, digest));
    }
    this.#coverage.sealed += found;
    if (record.kind === 'found') this.#coverage.found += found;
    this.#after = record.through;
    this.#closed = record.number;
    await this.#next();
  }

  async #next(): Promise<void> {
    this.#range = new SealedRange();
    for (;;) {
      const next = await this.#records!.next();
      const record = (this.#current = next.done ? undefined : next.value);
      if (!record) return;
      if (record.number === this.#begin) this.#coverage.since = record.sealedAt;
      if (record.number <= this.#begin || record.number <= (this.#earlier?.number ?? 0)) continue;
      const limit = this.#placeOf(record);
      if (limit === undefined) this.#current = { ...record, through: this.#after };
      else this.#limit = limit;
      return;
    }
  }

  /** Undefined for what is no place of a log: it was written over, which the MAC of the record says as well. */
  #placeOf({ through }: SealRecord): bigint | undefined {
    try {
      return this.#deps.numberOf(through);
    } catch {
      return undefined;
    }
  }

  async *#verified(mac: SealMac, head: SealHead): AsyncGenerator<SealRecord, void> {
    let previous: SealRecord | undefined;
    for (let after = 0; ;) {
      const page = await this.#deps.book.page(after, PAGE);
      for (const record of page) {
        // What a running service adds meanwhile is for the next time.
        if (record.number > head.number) break;
        this.#checkRecord(mac, previous, record);
        previous = record;
        yield record;
      }
      const last = page.at(-1);
      if (!last || page.length < PAGE || last.number >= head.number) break;
      after = last.number;
    }
    const right = headOf(mac, head).proof === head.proof;
    if (!right) this.#differ('the end of the seal book', 'a head with its proof', 'another proof');
    else if (previous?.number !== head.number || previous.mac !== head.mac)
      this.#differ('the end of the seal book', `seal ${head.number}`, `seal ${previous?.number ?? 0}`);
    await this.#checkBehind(head);
  }

  async #checkBehind(head: SealHead): Promise<void> {
    const { book } = this.#deps;
    const [behind] = await book.page(head.number, 1);
    if (!behind || (await book.head())?.number !== head.number) return;
    this.#differ('the end of the seal book', `nothing behind seal ${head.number}`, nameOf(behind));
  }

  #checkRecord(mac: SealMac, previous: SealRecord | undefined, record: SealRecord): void {
    const expected = (previous?.number ?? 0) + 1;
    if (record.number !== expected) {
      this.#differ(`seal ${expected}`, 'a seal', `the next one is seal ${record.number}`);
    } else {
      const right = macOfRecord(mac, previous?.mac ?? '', record);
      if (right !== record.mac)
        this.#differ(nameOf(record), 'a seal of this service', 'another text, or another key');
    }
    if (record.number !== this.#anchor?.number) return;
    this.#anchored = true;
    if (record.mac !== this.#anchor.mac)
      this.#report('anchor', `seal ${record.number}`, this.#anchor.mac, record.mac);
  }

  #differ(what: string, expected: string, found: string): void {
    this.#reported += 1;
    if (this.#reported <= MOST_DIFFERENCES) this.#report('seal', what, expected, found);
  }

  #report(kind: 'seal' | 'anchor', what: string, expected: string, found: string): void {
    this.#deps.report({ kind, stream: '', revision: null, what, expected, found });
  }
}
