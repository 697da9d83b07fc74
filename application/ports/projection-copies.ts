import type { Projection, TableWrite } from '../../projections/engine/projection.ts';
import type { LogPosition } from './event-store.ts';

export interface CopyPlace {
  readonly version: number;
  readonly position: LogPosition | 'start';
}

/** `building`: takes in the log; `ready`: compared, may serve; `old`: served before, kept until it is dropped. */
export type CopyState = 'building' | 'ready' | 'old';

export interface ProjectionPlaces {
  /** What serves; undefined before the first batch. */
  readonly live: CopyPlace | undefined;
  readonly copy: (CopyPlace & { readonly state: CopyState }) | undefined;
}

export interface RowDifference {
  readonly table: string;
  readonly key: Readonly<Record<string, unknown>>;
  readonly stream: string;
  /** Columns that differ, with both values; empty when the row is on one side only. */
  readonly columns: Readonly<Record<string, { readonly live: unknown; readonly copy: unknown }>>;
  readonly only: 'live' | 'copy' | undefined;
}

/** A row looked at once more, with the places at which both copies were in that same moment. */
export interface RowComparison {
  readonly places: ProjectionPlaces;
  readonly difference: RowDifference | undefined;
}

/** The second copy of a read model's tables, beside the one that serves. */
export interface ProjectionCopies {
  places(name: string): Promise<ProjectionPlaces>;
  /** Rows of each copy, all tables together. */
  rows(projection: Projection): Promise<{ readonly live: number; readonly copy: number }>;
  /** Empties the copy and starts it anew for this version; false when another process has just begun one. */
  begin(projection: Projection): Promise<boolean>;
  /** The writes and the new place together; false when another process was faster, or the copy is gone. */
  apply(
    projection: Projection,
    writes: readonly TableWrite[],
    expected: LogPosition | 'start',
    checkpoint: LogPosition,
  ): Promise<boolean>;
  /** Stretches of both copies, each compared in one snapshot; rows that differ may only have been written in between. */
  compare(projection: Projection): AsyncIterable<readonly RowDifference[]>;
  compareRow(name: string, row: RowDifference): Promise<RowComparison>;
  /** False when the copy has moved since. */
  markReady(name: string, position: LogPosition): Promise<boolean>;
  /** Lets the copy serve in one step and keeps what served; false when either has moved since these places were read. */
  switchOver(name: string, places: ProjectionPlaces): Promise<boolean>;
  /** Empties the copy; false when there is none. */
  drop(projection: Projection): Promise<boolean>;
}
