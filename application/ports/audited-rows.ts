import type { Row } from '../../projections/engine/projection.ts';
import type { PublicEvent } from './event-bus.ts';

/** Where a payment lies; its table is in the order of dates. */
export interface PaymentPlace {
  readonly stream: string;
  readonly date: string;
  readonly revision: number;
}

/** Rows of a read model as an audit sees them. */
export interface AuditedRows {
  readonly tables: readonly string[];
  /** Columns that tell the rows of a table apart. */
  keyOf(table: string): readonly string[];
  /** All rows of these operations by table, in one snapshot; payments only where they are expected. */
  rowsOf(
    streams: readonly string[],
    payments: readonly PaymentPlace[],
  ): Promise<ReadonlyMap<string, readonly Row[]>>;
  /** Events that the operations' rows say they hold, all together; for a progress bar, so roughly. */
  countEvents(): Promise<number>;
  /** Operations with rows in this table and how many each has, in the order of streams, after this one. */
  operationsIn(
    table: string,
    after: string,
    limit: number,
  ): Promise<readonly { readonly stream: string; readonly rows: number }[]>;
}

/** By the events' own time: before an instant, or from it on. */
export type FrozenPeriod = { readonly before: string } | { readonly from: string };

/** Public events as the delivery log froze them. Old ones leave it with their deliveries. */
export interface FrozenEvents {
  /** Those that are there. */
  find(eventIds: readonly string[]): Promise<ReadonlyMap<string, PublicEvent>>;
  /** Of operations and of this time, in the order of their ids, after this one. */
  page(period: FrozenPeriod, after: string, limit: number): Promise<readonly PublicEvent[]>;
  /** Of operations and of this time, all together. */
  count(period: FrozenPeriod): Promise<number>;
  /** Deliveries whose event is gone or whose place in their lane is not the event's. */
  misplacedDeliveries(
    limit: number,
  ): Promise<
    readonly { readonly deliveryId: string; readonly eventId: string; readonly code: string | null }[]
  >;
}
