import { createHash } from 'node:crypto';
import type { Hash } from 'node:crypto';
import type { RealClock } from '../../ports/clock.ts';
import type { EventSubscription, RecordedEvent } from '../../ports/event-store.ts';
import type { LogOrder } from '../../ports/read-models.ts';
import { catchUp } from '../../processors/catch-up.ts';
import type { Commit, Place, ProcessorStore } from '../../processors/processor.ts';
import { Runner } from '../../processors/runner.ts';
import type { RunnerDependencies } from '../../processors/runner.ts';
import type { SealHead, SealRecord, SqlSealBook } from './seal-book.ts';

/** Keyed digest of a text, hexadecimal; it takes the service's key to make one. */
export type SealMac = (text: string) => string;

const joined = (purpose: string, parts: readonly (string | number)[]): string =>
  [purpose, ...parts].map((part) => `${String(part).length}:${part}`).join('');

/** What the MAC of a record is over; `previous` is the MAC of the record before, empty for the first. */
export const macOfRecord = (mac: SealMac, previous: string, record: Omit<SealRecord, 'mac'>): string => {
  const { number, kind, log, through, events, total, digest, sealedAt } = record;
  return mac(joined('seal', [previous, number, kind, log, through, events, total, digest, sealedAt]));
};

export const headOf = (mac: SealMac, { number, mac: of }: Pick<SealRecord, 'number' | 'mac'>): SealHead => ({
  number,
  mac: of,
  proof: mac(joined('head', [number, of])),
});

const sealedText = ({ stream, revision, metadata }: RecordedEvent): string =>
  `${stream.length}:${stream}${revision}:${metadata.hash}\n`;

/** A stretch of the log: its events in their order, told by stream, revision and the hash that covers the rest of each. */
export class SealedRange {
  readonly #hash: Hash = createHash('sha256');
  #events = 0;

  get events(): number {
    return this.#events;
  }

  add(event: RecordedEvent): void {
    this.addText(sealedText(event));
  }

  addText(text: string): void {
    this.#events += 1;
    this.#hash.update(text);
  }

  digest(): string {
    return this.#hash.digest('hex');
  }
}

export interface BookParts {
  readonly book: SqlSealBook;
  readonly keys: {
    find(): Promise<SealMac | undefined>;
    make(): Promise<SealMac>;
  };
  /** Which kind of event store this is: positions of another one mean nothing here. */
  readonly log: string;
  readonly clock: RealClock;
}

interface Dependencies extends BookParts {
  readonly subscription: EventSubscription;
  readonly logger: RunnerDependencies['logger'];
  readonly sleep: RunnerDependencies['pause'];
}

/** The last record is not what this service wrote: sealing on would cover it up. */
export class BrokenSealBookError extends Error {
  override readonly name = 'BrokenSealBookError';
}

/** An event is sealed at most so long after it was read. */
const SEAL_EVERY_MS = 5_000;
const MOST_EVENTS = 10_000;
/** Nothing is compared: one follower alone catches up. */
const ALONE: Pick<LogOrder, 'compare'> = { compare: () => 1 };

/** Follows the log and writes what it saw into the seal book, a few seconds of events at a time: no append waits for it. */
export class SealLog {
  readonly #deps: Dependencies;
  readonly #sealed: SealedPlaces;
  readonly #runner: Runner<string>;

  constructor(dependencies: Dependencies) {
    const { subscription, logger, sleep } = dependencies;
    this.#deps = dependencies;
    this.#sealed = new SealedPlaces(dependencies);
    this.#runner = new Runner<string>(
      {
        what: 'sealing the log',
        source: subscription,
        store: this.#sealed,
        gather: { ms: SEAL_EVERY_MS, events: MOST_EVENTS },
        handle: (events) => ({ writes: events.map(sealedText), mayWait: true }),
      },
      { logger, pause: sleep },
    );
  }

  /** Works until the signal ends. Whatever fails is tried again from the last seal. */
  run(signal: AbortSignal): Promise<void> {
    return this.#runner.run(signal);
  }

  /** Seals all that there is now; answers the end of the book. @throws BrokenSealBookError */
  async sealNow(): Promise<SealHead> {
    const { subscription: source } = this.#deps;
    await catchUp([this.#runner], { source, order: ALONE }, new AbortController().signal);
    return this.#sealed.head;
  }
}

/** @param end the last records up to the head, in their order */
const checkEnd = (mac: SealMac, head: SealHead, end: readonly SealRecord[]): void => {
  const last = end.at(-1);
  const right =
    last?.mac === head.mac &&
    last.number === head.number &&
    headOf(mac, last).proof === head.proof &&
    macOfRecord(mac, end.at(-2)?.mac ?? '', last) === last.mac;
  if (right) return;
  throw new BrokenSealBookError(
    'the end of the seal book is not what was written there: nothing more is sealed before `receivables audit verify` is clean',
  );
};

/** The book at its end: its last record is the place, so a stretch and the place behind it are one write. */
class SealedPlaces implements ProcessorStore<string> {
  readonly #deps: BookParts;
  #mac: SealMac | undefined;
  #last: SealRecord | undefined;

  constructor(parts: BookParts) {
    this.#deps = parts;
  }

  get head(): SealHead {
    return headOf(this.#mac!, this.#last!);
  }

  /** Begins the book, and a part of it for this log, where there is none. @throws BrokenSealBookError */
  async load(): Promise<{ readonly place: Place; readonly held: readonly [] }> {
    const { book, keys, log } = this.#deps;
    // The first record before the end: both are written together, so one that another process begins with meanwhile is no loss.
    const [first] = await book.page(0, 1);
    const head = await book.head();
    if (first && !head) throw new BrokenSealBookError('the seal book has lost its end');
    const mac = head ? await keys.find() : await keys.make();
    if (!mac) throw new BrokenSealBookError('the key of the seal book is gone');
    // Another process may have gone on since the head was read: of a book of one, its second record is none of these.
    const end = head ? await book.page(head.number - 2, Math.min(2, head.number)) : [];
    const last = end.at(-1);
    if (head) checkEnd(mac, head, end);
    [this.#mac, this.#last] = [mac, last];
    const begin = { kind: 'begin', through: 'start', events: 0, total: 0 } as const;
    if (last?.log !== log && !(await this.#add({ ...begin, digest: new SealedRange().digest() })))
      return this.load();
    return { place: this.#last!.through, held: [] };
  }

  /** Once nothing that comes was there when sealing began, nothing later is. */
  async commit({ to, writes, live }: Commit<string>): Promise<boolean> {
    const last = this.#last!;
    if (writes.length === 0) return true;
    const range = new SealedRange();
    for (const text of writes) range.addText(text);
    const kind = live || last.kind === 'live' ? 'live' : 'found';
    const { events } = range;
    return this.#add({ kind, through: to, events, total: last.total + events, digest: range.digest() });
  }

  /** False when another process seals as well, and was faster. */
  async #add(of: Pick<SealRecord, 'kind' | 'through' | 'events' | 'total' | 'digest'>): Promise<boolean> {
    const { book, log, clock } = this.#deps;
    const [mac, last] = [this.#mac!, this.#last];
    const record = { ...of, number: (last?.number ?? 0) + 1, log, sealedAt: clock.realNow() };
    const sealed = { ...record, mac: macOfRecord(mac, last?.mac ?? '', record) };
    if (!(await book.add(sealed, headOf(mac, sealed)))) return false;
    this.#last = sealed;
    return true;
  }
}
