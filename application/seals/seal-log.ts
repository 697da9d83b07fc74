import { createHash } from 'node:crypto';
import type { Hash } from 'node:crypto';
import type { SealBook, SealHead, SealKeys, SealMac, SealRecord } from '../ports/audit.ts';
import type { RealClock } from '../ports/clock.ts';
import type { EventSubscription, LogPosition, RecordedEvent } from '../ports/event-store.ts';
import type { Logger } from '../ports/logger.ts';
import { Outage, repeatUntilAborted } from '../support/retry.ts';
import type { Pause } from '../support/retry.ts';

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

/** A stretch of the log: its events in their order, told by stream, revision and the hash that covers the rest of each. */
export class SealedRange {
  readonly #hash: Hash = createHash('sha256');
  #events = 0;

  get events(): number {
    return this.#events;
  }

  add({ stream, revision, metadata }: RecordedEvent): void {
    this.#events += 1;
    this.#hash.update(`${stream.length}:${stream}${revision}:${metadata.hash}\n`);
  }

  /** Of all that were added; nothing can be added after that. */
  digest(): string {
    return this.#hash.digest('hex');
  }
}

interface Dependencies {
  readonly subscription: EventSubscription;
  readonly book: SealBook;
  readonly keys: SealKeys;
  /** Which kind of event store this is: positions of another one mean nothing here. */
  readonly log: string;
  readonly clock: RealClock;
  readonly logger: Logger;
  readonly sleep: Pause;
}

/** The last record is not what this service wrote: sealing on would cover it up. */
export class BrokenSealBookError extends Error {
  override readonly name = 'BrokenSealBookError';
}

/** Another process seals as well, and was faster. */
class SealedElsewhereError extends Error {
  override readonly name = 'SealedElsewhereError';
}

/** At most so long after it was read is an event sealed. */
export const SEAL_EVERY_MS = 5_000;
const MOST_EVENTS = 10_000;
const AFTER_ANOTHER_MS = 100;
/** Two that seal at once get into each other's way at most a few times. */
const TRIES = 20;

/** Follows the log and writes what it saw into the seal book, a few seconds of events at a time: no append waits for it. */
export class SealLog {
  readonly #deps: Dependencies;
  readonly #outage: Outage;

  constructor(dependencies: Dependencies) {
    this.#deps = dependencies;
    this.#outage = new Outage({ logger: dependencies.logger, what: 'sealing the log' });
  }

  /** Works until the signal ends. Whatever fails is tried again from the last seal. */
  async run(signal: AbortSignal): Promise<void> {
    const afterFailure = (error: unknown): number =>
      error instanceof SealedElsewhereError ? AFTER_ANOTHER_MS : this.#outage.failed(error);
    await repeatUntilAborted(() => this.#follow(signal), afterFailure, this.#deps.sleep, signal);
  }

  /** Seals all that there is now; answers the end of the book. @throws BrokenSealBookError */
  async sealNow(): Promise<SealHead> {
    for (let tries = 1; ; tries += 1) {
      try {
        const sealing = await this.#open();
        const stop = new AbortController();
        for await (const message of this.#messages(sealing, stop.signal)) {
          if (message.kind === 'caught_up') break;
        }
        stop.abort();
        await sealing.seal();
        return sealing.head;
      } catch (error) {
        if (!(error instanceof SealedElsewhereError) || tries === TRIES) throw error;
      }
    }
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const sealing = await this.#open();
    const failed = new AbortController();
    const either = AbortSignal.any([signal, failed.signal]);
    const regularly = this.#regularly(sealing, either).finally(() => failed.abort());
    // Its failure is met below, whatever ends first.
    regularly.catch(() => undefined);
    try {
      for await (const message of this.#messages(sealing, either)) {
        if (message.kind !== 'caught_up') continue;
        sealing.caughtUp();
        this.#outage.over();
      }
    } finally {
      failed.abort();
    }
    await regularly;
    // In order, so that an event stays unsealed only where a process ends without being asked.
    await sealing.seal();
  }

  async #regularly(sealing: Sealing, signal: AbortSignal): Promise<void> {
    for (;;) {
      await this.#deps.sleep(SEAL_EVERY_MS, signal);
      if (signal.aborted) return;
      await sealing.seal();
    }
  }

  async *#messages(sealing: Sealing, signal: AbortSignal) {
    for await (const message of this.#deps.subscription.subscribe({ from: sealing.through, signal })) {
      if (message.kind === 'events') {
        for (const event of message.events) sealing.add(event);
        if (sealing.waiting >= MOST_EVENTS) await sealing.seal();
      }
      yield message;
    }
  }

  /** The book at its end, begun where it was not. */
  async #open(): Promise<Sealing> {
    const { book, keys, log } = this.#deps;
    const head = await book.head();
    const mac = head ? await keys.find() : await keys.make();
    if (!mac) throw new BrokenSealBookError('the key of the seal book is gone');
    const [last] = head ? await book.page(head.number - 1, 1) : [];
    if (head) checkEnd(mac, head, last);
    else if ((await book.page(0, 1)).length > 0)
      throw new BrokenSealBookError('the seal book has lost its end');
    const sealing = new Sealing(this.#deps, mac, last);
    if (last?.log !== log) await sealing.begin();
    return sealing;
  }
}

const checkEnd = (mac: SealMac, head: SealHead, last: SealRecord | undefined): void => {
  const right =
    last?.mac === head.mac && last.number === head.number && headOf(mac, last).proof === head.proof;
  if (right) return;
  throw new BrokenSealBookError(
    'the end of the seal book is not what was written there: nothing more is sealed before `receivables audit verify` is clean',
  );
};

/** Events that were read and not sealed yet, and the end of the book. */
class Sealing {
  readonly #deps: Dependencies;
  readonly #mac: SealMac;
  #last: SealRecord | undefined;
  #range = new SealedRange();
  #through: LogPosition | undefined;
  #live: boolean;
  #writing: Promise<void> = Promise.resolve();

  constructor(deps: Dependencies, mac: SealMac, last: SealRecord | undefined) {
    this.#deps = deps;
    this.#mac = mac;
    this.#last = last;
    this.#live = last?.kind === 'live';
  }

  /** Of the last event that is sealed. */
  get through(): LogPosition | 'start' {
    return this.#last?.through ?? 'start';
  }

  get waiting(): number {
    return this.#range.events;
  }

  get head(): SealHead {
    return headOf(this.#mac, this.#last!);
  }

  add(event: RecordedEvent): void {
    this.#range.add(event);
    this.#through = event.position;
  }

  /** What comes from now on was not there when sealing began. */
  caughtUp(): void {
    if (this.#live) return;
    // What was found is sealed as that before anything that comes now.
    void this.seal().catch(() => undefined);
    this.#live = true;
  }

  /** Seals what waits; one at a time. @throws SealedElsewhereError */
  seal(): Promise<void> {
    const [range, through] = [this.#range, this.#through];
    if (range.events === 0 || through === undefined) return this.#writing;
    this.#range = new SealedRange();
    const kind = this.#live ? 'live' : 'found';
    const before = this.#writing;
    this.#writing = (async () => {
      await before;
      const events = range.events;
      await this.#write({ kind, through, events, total: this.#last!.total + events, digest: range.digest() });
    })();
    return this.#writing;
  }

  /** Opens the book for this log. */
  async begin(): Promise<void> {
    const digest = new SealedRange().digest();
    await this.#write({ kind: 'begin', through: 'start', events: 0, total: 0, digest });
    this.#live = false;
  }

  async #write(of: Pick<SealRecord, 'kind' | 'through' | 'events' | 'total' | 'digest'>): Promise<void> {
    const { book, log, clock } = this.#deps;
    const record = { ...of, number: (this.#last?.number ?? 0) + 1, log, sealedAt: clock.realNow() };
    const sealed = { ...record, mac: macOfRecord(this.#mac, this.#last?.mac ?? '', record) };
    if (!(await book.add(sealed, headOf(this.#mac, sealed))))
      throw new SealedElsewhereError('another process seals the log as well');
    this.#last = sealed;
  }
}
