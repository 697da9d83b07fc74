import type { Projection, TableWrite } from './projection.ts';

/** An operation whose next event a projection cannot take: from that event on, its events wait. */
export interface QuarantinedStream {
  readonly stream: string;
  /** Of the first event that waits. */
  readonly revision: bigint;
  readonly eventType: string;
  readonly reason: string;
}

/** What the engine needs to know of a stored event before it is decoded. */
export interface StoredEvent<Position extends string> {
  readonly id: string;
  readonly type: string;
  readonly stream: string;
  readonly revision: bigint;
  readonly position: Position;
}

export type LogMessage<Event, Position extends string> =
  | { readonly kind: 'events'; readonly events: readonly Event[]; readonly checkpoint: Position }
  | { readonly kind: 'checkpoint'; readonly checkpoint: Position }
  | { readonly kind: 'caught_up' };

/** The log, in its order, from after a position until the signal. */
export interface EventLog<Event, Position extends string> {
  subscribe(options: {
    readonly from: Position | 'start';
    readonly streamPrefix?: string;
    readonly batchSize?: number;
    readonly signal: AbortSignal;
  }): AsyncIterable<LogMessage<Event, Position>>;
}

/** Where rows and their checkpoint live; both change together or not at all. */
export interface ReadModelStore<Position extends string> {
  checkpoint(projection: Projection): Promise<Position | 'start'>;
  /** In the order of their names. */
  quarantined(projection: Projection): Promise<readonly QuarantinedStream[]>;
  /** False when the stored checkpoint is not `expected`. @throws RefusedWritesError */
  apply(
    projection: Projection,
    writes: readonly TableWrite[],
    expected: Position | 'start',
    checkpoint: Position,
  ): Promise<boolean>;
}

export interface ProjectorLog {
  error(fields: object, message: string): void;
  info(fields: object, message: string): void;
}

/** The store works, and will never take these writes; anything else that it throws may pass. */
export class RefusedWritesError extends Error {
  override readonly name = 'RefusedWritesError';
}
