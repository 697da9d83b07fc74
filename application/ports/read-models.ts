import type { Projection, TableWrite } from '../../projections/projection.ts';
import type { LogPosition } from './event-store.ts';

/**
 * An operation, or a renegotiation, with an event that a projection cannot take: from that event on, its events wait. Operations wait
 * with a renegotiation that names them: then the event is one of the renegotiation's own stream.
 */
export interface QuarantinedStream {
  readonly stream: string;
  /** Of the event that cannot be taken, in its own stream. */
  readonly revision: bigint;
  readonly eventType: string;
  readonly reason: string;
  /** Of that event; what comes after it waits. */
  readonly position: LogPosition;
}

/** Where projections write: the writes of a batch and its checkpoint commit together, or not at all. */
export interface ProjectionStore {
  checkpoint(projection: Projection): Promise<LogPosition | 'start'>;
  /** What waits, in the order of the streams' names; it changes by writes like any row. */
  quarantined(projection: Projection): Promise<readonly QuarantinedStream[]>;
  /**
   * @param expected the checkpoint that these writes follow; when the stored one differs (another projector was faster), or a write
   *   does not touch as many rows as it expects, nothing is written and the answer is false
   * @throws RefusedWritesError
   */
  apply(
    projection: Projection,
    writes: readonly TableWrite[],
    expected: LogPosition | 'start',
    checkpoint: LogPosition,
  ): Promise<boolean>;
  /** Empties the projection's tables and its checkpoint in one step. */
  reset(projection: Projection): Promise<void>;
}

export interface ProjectionPlace {
  readonly version: number;
  readonly position: LogPosition | 'start';
}

/** By name of the projection; none before its first batch. */
export type Places = ReadonlyMap<string, ProjectionPlace>;

/** `building`: takes in the log; `switching`: is about to serve; `old`: served before, kept until it is dropped. */
export type GenerationState = 'building' | 'switching' | 'serving' | 'old';

/** A whole set of read-model tables with one checkpoint a projection, open. */
export interface Generation {
  readonly number: number;
  readonly store: ProjectionStore;
  places(): Promise<Places>;
  /** Rows of all tables of a projection together. */
  rows(projection: Projection): Promise<number>;
  close(): Promise<void>;
}

export interface RowDifference {
  readonly table: string;
  readonly key: Readonly<Record<string, unknown>>;
  readonly stream: string;
  /** Columns that differ, with both values; empty when the row is on one side only. */
  readonly columns: Readonly<Record<string, { readonly live: unknown; readonly copy: unknown }>>;
  readonly only: 'live' | 'copy' | undefined;
}

/** A row looked at once more, with the places of its projection in both generations in that same moment. */
export interface RowComparison {
  readonly live: ProjectionPlace | undefined;
  readonly copy: ProjectionPlace | undefined;
  readonly difference: RowDifference | undefined;
}

/** Reads two generations in one go. */
export interface Pair {
  /** Stretches of both tables; rows that differ may only have been written in between. */
  compare(projection: Projection): AsyncIterable<readonly RowDifference[]>;
  compareRow(projection: Projection, row: RowDifference): Promise<RowComparison>;
  close(): Promise<void>;
}

/** The generations of the read models; all read models together are one. */
export interface Generations {
  list(): Promise<readonly { readonly number: number; readonly state: GenerationState }[]>;
  /** Opens it, with tables as this program has them. */
  open(number: number): Promise<Generation>;
  /** The number of the generation that serves; undefined when there is none, or it was lost. */
  serving(): Promise<number | undefined>;
  /** The number of the unfinished generation, or of a new one. */
  begin(): Promise<{ readonly number: number; readonly resumed: boolean }>;
  pair(live: number, copy: number): Promise<Pair>;
  /**
   * Lets a generation serve in one step; from then on nothing is written into the one before, and nothing read from it.
   * False when that one moved since `seen`. @throws GenerationGoneError
   */
  letServe(number: number, before?: { readonly live: Generation; readonly seen: Places }): Promise<boolean>;
  /** Removes what served before and what is unfinished; answers the numbers. */
  dropOld(): Promise<readonly number[]>;
}

/** The generation is no longer there to be filled: another process dropped it. */
export class GenerationGoneError extends Error {
  override readonly name = 'GenerationGoneError';
}

/** The store works, and will never take these writes; anything else that it throws may pass. */
export class RefusedWritesError extends Error {
  override readonly name = 'RefusedWritesError';
}

/** What a rebuild has to know of places in the log, beyond handing them back. */
export interface LogOrder {
  /** Negative when the first place comes before the second. */
  compare(one: LogPosition | 'start', other: LogPosition | 'start'): number;
  /** How much of the way to a place is behind, from 0 to 1. */
  share(done: LogPosition | 'start', whole: LogPosition | 'start'): number;
}
