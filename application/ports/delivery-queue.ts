import type { ConsumerProgress } from './event-bus.ts';
import type { EndedAttempt } from './delivery-log.ts';

/** A public event as subscribers get it. `webhook.ping` belongs to no operation and no fund. */
export interface WebhookEvent {
  readonly eventId: string;
  readonly name: string;
  readonly applicationId: string;
  readonly fundId: string | null;
  readonly code: string | null;
  readonly sequence: number;
  readonly timestamp: string;
  readonly body: string;
}

export interface PlannedDelivery {
  readonly webhookId: string;
  readonly event: WebhookEvent;
}

/** Where deliveries of a subscription go at the moment of the lease. */
export interface DeliveryEndpoint {
  readonly webhookId: string;
  readonly applicationId: string;
  readonly url: string;
  readonly sealedSecret: string;
}

/** The right to send what stands at the head of one lane, until the lease ends or the result is in. */
export interface LaneLease {
  readonly webhookId: string;
  readonly lane: string;
  /** Another lease of the lane gets another token, so a result under an old one can be refused. */
  readonly token: string;
  /** When it ends. */
  readonly until: string;
}

export interface LeasedDelivery {
  readonly lease: LaneLease;
  readonly endpoint: DeliveryEndpoint;
  readonly deliveryId: string;
  readonly event: WebhookEvent;
  /** Number of the attempt to make; 1 for the first. */
  readonly attempt: number;
  /** Attempts of the retry schedule used up before this one. */
  readonly scheduledAttempts: number;
  /** Asked for by hand: outside the order and outside the schedule. */
  readonly redelivery: boolean;
  readonly createdAt: string;
}

/** How many lanes to lease for one subscription, by whether their head was tried before. */
export interface LeaseRequest {
  readonly webhookId: string;
  readonly firstAttempts: number;
  readonly retries: number;
}

/** When the next lane of a subscription can be leased; null when there is none. */
export interface LaneSchedule {
  readonly webhookId: string;
  readonly firstAttemptAt: string | null;
  readonly retryAt: string | null;
}

export interface LeasedLanes {
  readonly deliveries: readonly LeasedDelivery[];
  /** What is left after this call, one entry a request. */
  readonly schedules: readonly LaneSchedule[];
}

export type AttemptVerdict =
  | { readonly kind: 'delivered' }
  /** Failed; to be tried again not before `at`. */
  | { readonly kind: 'retry'; readonly at: string }
  /** Failed, and it was the last attempt. */
  | { readonly kind: 'failed' };

export interface AttemptResult {
  readonly delivery: LeasedDelivery;
  readonly record: EndedAttempt;
  readonly verdict: AttemptVerdict;
  /** True to go on with the lane's next delivery under the same lease. */
  readonly keepLane: boolean;
  /** True to note this result on the subscription (last success, last failure, failing since) as well. */
  readonly noteHealth: boolean;
}

export type RecordedResult =
  /** Stored; the lane is given back with what waits in it, if anything does. */
  | { readonly kind: 'released' }
  /** Stored; the lane was to be kept, but nothing waits in it any more. */
  | { readonly kind: 'emptied' }
  /** Stored; the lease goes on with this delivery. */
  | { readonly kind: 'next'; readonly delivery: LeasedDelivery }
  /** Refused: the lease had ended and another process has the lane. Nothing of the result was stored. */
  | { readonly kind: 'lease_lost' };

export interface Retention {
  /** Delivered ones that ended before this instant go. */
  readonly deliveredBefore: string;
  readonly failedBefore: string;
  /** Subscriptions removed before this instant are forgotten once nothing is left of them. */
  readonly removedBefore: string;
  /** Most deliveries removed in one call. */
  readonly limit: number;
}

/**
 * What is to be sent, in lanes. A lane is one operation at one subscription; only its head can be leased, so deliveries of a lane
 * go out one after the other, in order of `sequence`. A lane exists only while something waits in it, and a lease costs the same
 * however much waits. Everything is durable when a call resolves. Instants are ISO 8601 UTC with milliseconds.
 */
export interface DeliveryQueue {
  /**
   * Once per subscription and event: a repetition changes nothing. Answers how many are new. The progress of the consumer that the
   * deliveries come from is stored with them: all or nothing.
   * @throws PartitionLostError the progress is not that of the stored offset; nothing was stored
   */
  enqueue(deliveries: readonly PlannedDelivery[], now: string, progress?: ConsumerProgress): Promise<number>;
  /** Leases due lanes of active subscriptions, longest due first. A lane whose lease ended counts as due. */
  lease(requests: readonly LeaseRequest[], now: string, leaseUntil: string): Promise<LeasedLanes>;
  /**
   * Stores the result of each attempt with its delivery's state and its lane's next state, all or nothing per attempt. The lease of
   * a lane that is kept goes on, renewed to `leaseUntil` unless nearly all of it is left.
   */
  record(
    results: readonly AttemptResult[],
    now: string,
    leaseUntil: string,
  ): Promise<readonly RecordedResult[]>;
  /** Gives lanes back without a result; leases that ended already are ignored. */
  release(leases: readonly LaneLease[], now: string): Promise<void>;
  /** Active subscriptions that have work, now or later. */
  schedules(now: string): Promise<readonly LaneSchedule[]>;
  /** The event, and the subscriptions that it was queued for. */
  findEvent(
    applicationId: string,
    eventId: string,
  ): Promise<{ readonly event: WebhookEvent; readonly webhookIds: readonly string[] } | undefined>;
  /** One attempt more, outside the order, due at once; creates the delivery where a subscription has none. */
  redeliver(event: WebhookEvent, webhookIds: readonly string[], now: string): Promise<readonly Redelivery[]>;
  /** One small step of the removal of what is old or belongs to a removed subscription; 0 when nothing is left to do. */
  cleanUp(retention: Retention): Promise<number>;
}

export interface Redelivery {
  readonly webhookId: string;
  readonly deliveryId: string;
  /** Number that the repeated attempt will carry. */
  readonly attempt: number;
}
