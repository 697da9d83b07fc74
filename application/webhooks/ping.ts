import type { WebhookEvent } from '../ports/delivery-queue.ts';
import { PING } from '../publishing/event-names.ts';
import { bodyOf } from '../publishing/public-events.ts';

interface Ping {
  readonly eventId: string;
  readonly applicationId: string;
  readonly timestamp: string;
  readonly apiVersion: string;
}

/** Tells a receiver that its registration works; about no operation and no fund. */
export const pingEvent = ({ eventId, applicationId, timestamp, apiVersion }: Ping): WebhookEvent => {
  const nowhere = { code: null, fundId: null, sequence: 0 };
  const data = { message: 'This webhook is registered and reachable. Events will arrive here.' };
  return {
    eventId,
    name: PING,
    applicationId,
    timestamp,
    ...nowhere,
    body: bodyOf({ name: PING, eventId, timestamp, apiVersion, data, ...nowhere }),
  };
};
