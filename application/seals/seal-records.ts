import { createHash } from 'node:crypto';
import type { Hash } from 'node:crypto';
import type { RecordedEvent } from '../ports/event-store.ts';
import type { SealHead, SealMac, SealRecord } from '../ports/audit.ts';

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
