import type { KeyClaim, LogPosition, RecordedEvent } from '../../ports/event-store.ts';

export interface EventToMove {
  readonly event: RecordedEvent;
  readonly at: number;
  readonly previousHash: string | undefined;
  readonly claim: KeyClaim | undefined;
}

/** The streams that are left behind; no process writes to them any more. It answers at once, from a file. */
export interface LogToMove {
  counts(): { readonly events: number; readonly streams: number; readonly claims: number };
  page(after: number, limit: number): readonly EventToMove[];
  find(eventId: string): EventToMove | undefined;
  /** Place of the last event at or before this position; 0 before the first. */
  lastAt(position: LogPosition): number;
  claims(): Iterable<readonly { readonly claim: KeyClaim; readonly stream: string }[]>;
}

interface CheckpointToMove {
  readonly name: string;
  readonly position: LogPosition;
}

export interface SubscriptionPlace {
  readonly webhookId: string;
  readonly column: 'begins_at' | 'filter_from';
  readonly place: LogPosition | 'start';
}

export interface PlacesToMove {
  readonly checkpoints: readonly CheckpointToMove[];
  readonly subscriptions: readonly SubscriptionPlace[];
}

/** The move cannot go on as things are; what was copied stays, and nothing was put into use. */
export class MoveFailedError extends Error {
  override readonly name = 'MoveFailedError';
}

export interface MovedTable {
  readonly name: string;
  readonly key: readonly string[];
}

/** Leases, rate limits and sessions are of the moment, read models are built again, checkpoints belong to a log. */
export const MOVED_TABLES: readonly MovedTable[] = [
  { name: 'client', key: ['client_id'] },
  { name: 'application_fund', key: ['application_id', 'fund_id'] },
  { name: 'wrapped_key', key: ['name'] },
  { name: 'borrower_operation', key: ['digest', 'stream'] },
  { name: 'log_seal', key: ['number'] },
  { name: 'log_seal_head', key: ['id'] },
  { name: 'consumer_offset', key: ['consumer_group', 'topic', 'partition'] },
  { name: 'consumer_mark', key: ['consumer_group', 'operation'] },
  { name: 'consumer_topic', key: ['topic'] },
  { name: 'clock_offset', key: ['id'] },
  { name: 'webhook_subscription', key: ['webhook_id'] },
  { name: 'webhook_event', key: ['event_id'] },
  { name: 'webhook_delivery', key: ['webhook_id', 'delivery_id'] },
  { name: 'webhook_attempt', key: ['delivery_id', 'attempt'] },
  { name: 'relay_quarantine', key: ['stream'] },
  { name: 'webhook_lane', key: ['lane', 'webhook_id'] },
  { name: 'webhook_redelivery', key: ['redelivery_id'] },
  { name: 'webhook_redelivery_item', key: ['redelivery_id', 'lane', 'sequence', 'delivery_id'] },
];

export const TELLTALE_TABLES: readonly string[] = [
  ...MOVED_TABLES.map(({ name }) => name),
  'checkpoint',
  'read_model_generation',
];

export type Value = string | number | null;
export type Row = Readonly<Record<string, Value>>;

/** The service's own data as it is left behind; pages in the order of the key. */
export interface MovedRows {
  count(table: MovedTable): number;
  page(table: MovedTable, after: readonly Value[] | undefined, limit: number): readonly Row[];
  places(): PlacesToMove;
}
