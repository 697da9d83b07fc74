import { randomUUID } from 'node:crypto';
import { PING } from '../publication/event-names.ts';
import { bodyOf } from '../publication/public-events.ts';
import type { WebhookEvent } from './queue/enqueue.ts';

export const pingEvent = ({
  eventId = randomUUID(),
  applicationId,
  timestamp,
  apiVersion,
}: {
  readonly eventId?: string;
  readonly applicationId: string;
  readonly timestamp: string;
  readonly apiVersion: string;
}): WebhookEvent => {
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
