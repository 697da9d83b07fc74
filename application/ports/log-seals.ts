import type { LogPosition } from './event-store.ts';

/**
 * A record of the seal book. `begin` opens it for a log; the others each cover a stretch of that log: `found` what was there when the
 * sealer first came past, `live` what came later. Stored, so never changed.
 */
export interface SealRecord {
  /** 1 for the first; no number is left out. */
  readonly number: number;
  readonly kind: 'begin' | 'found' | 'live';
  /** Which kind of event store the positions belong to. */
  readonly log: string;
  /** Of the last event that it covers; `start` for `begin`. */
  readonly through: LogPosition | 'start';
  /** That it covers. */
  readonly events: number;
  /** Since the last `begin`, these included. */
  readonly total: number;
  /** Over the events that it covers; hexadecimal SHA-256. */
  readonly digest: string;
  /** ISO 8601 UTC. */
  readonly sealedAt: string;
  /** Over all of it and the record before; hexadecimal. */
  readonly mac: string;
}

/** Where the book ends, so that its last records cannot be taken away unnoticed. */
export interface SealHead {
  readonly number: number;
  readonly mac: string;
  /** Keyed digest of both. */
  readonly proof: string;
}

/** The seal book. Durable when a call resolves. */
export interface SealBook {
  head(): Promise<SealHead | undefined>;
  /** In the order of numbers, after this one. */
  page(after: number, limit: number): Promise<readonly SealRecord[]>;
  /** Number of the last `begin`; 0 without one. */
  lastBegin(): Promise<number>;
  /** Adds a record and moves the head to it; false, and nothing is stored, unless the head is still the one before. */
  add(record: SealRecord, head: SealHead): Promise<boolean>;
}

/** Keyed digest of a text, hexadecimal; nobody without the service's key can make one. */
export type SealMac = (text: string) => string;

/** Keys of seals. */
export interface SealKeys {
  /** Undefined before anything was sealed. */
  find(): Promise<SealMac | undefined>;
  /** Made when there was none. */
  make(): Promise<SealMac>;
}
