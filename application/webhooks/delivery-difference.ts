/**
 * missing: the subscription asked for the event and has no delivery of it. not_asked_for: it has one of an event that it did not ask for.
 * out_of_order: an event went out before an earlier one of its operation. twice: a delivery repeats an event under another id. unknown: the
 * log has no such event.
 */
export type DeliveryDifferenceKind = 'missing' | 'not_asked_for' | 'out_of_order' | 'twice' | 'unknown';

export interface DeliveryDifference {
  readonly kind: DeliveryDifferenceKind;
  readonly webhookId: string;
  readonly applicationId: string;
  readonly eventId: string;
  /** Null where the stored event is gone, like the rest. */
  readonly event: string | null;
  readonly code: string | null;
  readonly sequence: number | null;
  readonly timestamp: string | null;
  readonly detail: string;
  /** Whether the comparison has queued it to be sent. */
  readonly repaired: boolean;
}
