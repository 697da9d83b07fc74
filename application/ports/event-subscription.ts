import type { LogPosition, RecordedEvent } from './event-store.ts';

export type SubscriptionMessage =
  /** Events in log order, never empty. `checkpoint` is the position of the last one: store it once all of them are handled. */
  | { readonly kind: 'events'; readonly events: readonly RecordedEvent[]; readonly checkpoint: LogPosition }
  /** Nothing of interest up to here. In band: every earlier event has been handed out before it. */
  | { readonly kind: 'checkpoint'; readonly checkpoint: LogPosition }
  /** The subscriber has seen all that existed when this was sent. In band as well; sent again after each catch-up. */
  | { readonly kind: 'caught_up' };

export interface SubscribeOptions {
  /** Exclusive: the first event handed out is the one after it. */
  readonly from: LogPosition | 'start';
  /** Only streams whose name starts so; default: all. */
  readonly streamPrefix?: string;
  /** Most events in one message; default 500. */
  readonly batchSize?: number;
  /** Ends the iteration, normally and promptly. */
  readonly signal: AbortSignal;
}

/**
 * Catch-up subscription to the whole log: everything after `from`, then what is appended, by this process or another, until
 * the signal. Order is the log's. Nothing is read ahead of the consumer beyond a bounded buffer. An adapter whose connection
 * breaks resumes by itself from the last message that it handed out. It ends with DamagedEventError before an event that is none.
 */
export interface EventSubscription {
  subscribe(options: SubscribeOptions): AsyncIterable<SubscriptionMessage>;
}
