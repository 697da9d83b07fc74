import type { ComparedDelivery } from './delivery-comparison.ts';
import type { PublicEvent } from '../ports/event-bus.ts';

/** Operations of which the last delivery is remembered: the longest not met goes first. */
const MOST_OPERATIONS = 100_000;

/** How a delivery stands to the one before it in its lane, told in a few words; undefined where nothing is wrong or can be said. */
const disorderOf = (before: ComparedDelivery, delivery: ComparedDelivery): string | undefined => {
  if (before.waits && delivery.attempted)
    return `was sent while event ${before.eventId} still waits before it`;
  if (before.endedAt !== null && delivery.endedAt !== null && delivery.endedAt < before.endedAt)
    return `ended at ${delivery.endedAt}, before event ${before.eventId} did`;
  return undefined;
};

/** Follows each operation at each subscription, in the order of the log. */
export class DeliveredOrder {
  readonly #last = new Map<string, Map<string, ComparedDelivery>>();

  meet(event: PublicEvent, delivery: ComparedDelivery): string | undefined {
    if (delivery.sequence !== event.sequence)
      return `stands in its lane at ${delivery.sequence}, the event at ${event.sequence}`;
    const lanes = this.#lanesOf(`${event.applicationId}.${event.code}`);
    const before = lanes.get(delivery.webhookId);
    lanes.set(delivery.webhookId, delivery);
    return before && disorderOf(before, delivery);
  }

  #lanesOf(operation: string): Map<string, ComparedDelivery> {
    const lanes = this.#last.get(operation) ?? new Map<string, ComparedDelivery>();
    this.#last.delete(operation);
    this.#last.set(operation, lanes);
    if (this.#last.size > MOST_OPERATIONS) this.#last.delete(this.#last.keys().next().value!);
    return lanes;
  }
}
