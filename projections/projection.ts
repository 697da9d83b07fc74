import type { DomainEvent } from '../domain/domain-event.ts';

export type Value = string | number | null;
export type Row = Readonly<Record<string, Value>>;

/**
 * One change of a read model, in terms of logical tables, whose rows name their operation by its `stream`; the SQL adapter turns it into
 * a statement on the tables as they are stored. `add` increments columns.
 * A write touches rows by equality of `where` only, so that every engine does the same. Where it touches another number of rows than
 * `expect`, nothing of the whole batch is stored.
 */
export type TableWrite =
  | { readonly op: 'insert'; readonly table: string; readonly rows: readonly Row[] }
  | {
      readonly op: 'update';
      readonly table: string;
      readonly where: Row;
      readonly set: Row;
      readonly add?: Readonly<Record<string, number>>;
      readonly expect?: number;
    }
  | { readonly op: 'delete'; readonly table: string; readonly where: Row; readonly expect?: number };

export interface ProjectedEvent {
  readonly event: DomainEvent;
  readonly id: string;
  readonly stream: string;
  readonly revision: bigint;
  /** Its place in the log as a number; only events of one append may share one. */
  readonly position: number;
  readonly recordedAt: string;
  readonly applicationId: string;
}

/** A read model as a pure function from one event to writes. `version` changes when the same events give other rows. */
export interface Projection {
  readonly name: string;
  readonly version: number;
  /** Logical tables that it owns; a rebuild empties exactly these. */
  readonly tables: readonly string[];
  /** Its rows follow from the streams of operations alone: those of renegotiations do not concern it. */
  readonly ofOperationsAlone?: true;
  project(event: ProjectedEvent): readonly TableWrite[];
}
