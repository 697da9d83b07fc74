// By itself, because the command line names them before it knows whether it needs the stores.

export const DELIVERY_STATES = ['pending', 'retrying', 'delivered', 'failed'] as const;

/** pending: no attempt yet. retrying: failed so far. failed: every attempt of the schedule is used up. */
export type DeliveryState = (typeof DELIVERY_STATES)[number];
