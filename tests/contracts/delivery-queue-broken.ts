import { randomUUID } from 'node:crypto';
import type { DeliveryQueue } from '../../application/webhooks/queue/delivery-queue.ts';

/** A queue that breaks one promise, and a case of the contract that has to notice. */
interface BrokenQueue {
  readonly flaw: string;
  readonly noticedBy: string;
  readonly spoil: (queue: DeliveryQueue) => Partial<DeliveryQueue>;
}

const DAY_MS = 86_400_000;
const tomorrow = (now: string): string => new Date(Date.parse(now) + DAY_MS).toISOString();

export const brokenQueues: readonly BrokenQueue[] = [
  {
    flaw: 'keeps nothing',
    noticedBy: 'what was queued is claimed byte for byte, with where it goes',
    spoil: () => ({ enqueue: (deliveries) => Promise.resolve(deliveries.length) }),
  },
  {
    flaw: 'queues an event as often as it comes',
    noticedBy: 'the same event is queued once for a subscription, however often it comes',
    spoil: (queue) => ({
      enqueue: (deliveries, now) =>
        queue.enqueue(
          deliveries.map(({ webhookId, event }) => ({
            webhookId,
            event: { ...event, eventId: randomUUID() },
          })),
          now,
        ),
    }),
  },
  {
    flaw: 'puts every event into a lane of its own',
    noticedBy: 'only the head of a lane is leased, and its deliveries follow one another by sequence',
    spoil: (queue) => ({
      enqueue: (deliveries, now) =>
        queue.enqueue(
          deliveries.map(({ webhookId, event }) => ({ webhookId, event: { ...event, code: event.eventId } })),
          now,
        ),
    }),
  },
  {
    flaw: 'answers what it leased once for each request for the subscription',
    noticedBy: 'a lane is claimed once, also by two requests for its subscription in one go',
    spoil: (queue) => ({
      lease: async (requests, now, until) => {
        const { deliveries, schedules } = await queue.lease(requests, now, until);
        return { deliveries: requests.length > 1 ? [...deliveries, ...deliveries] : deliveries, schedules };
      },
    }),
  },
  {
    flaw: 'leases for no time',
    noticedBy: 'a leased lane is nobody else’s until the lease ends; then the same attempt is made again',
    spoil: (queue) => ({ lease: (requests, now) => queue.lease(requests, now, now) }),
  },
  {
    flaw: 'leases for ever',
    noticedBy: 'a leased lane is nobody else’s until the lease ends; then the same attempt is made again',
    spoil: (queue) => ({ lease: (requests, now) => queue.lease(requests, now, '9999-12-31T00:00:00.000Z') }),
  },
  {
    flaw: 'accepts a result whoever holds the lease',
    noticedBy: 'a result that comes after its lease was taken over is refused, and nothing of it is stored',
    spoil: (queue) => ({
      record: async (results, now, until) => {
        const recorded = await queue.record(results, now, until);
        return recorded.map((one) => (one.kind === 'lease_lost' ? { kind: 'released' as const } : one));
      },
    }),
  },
  {
    flaw: 'sends retries early',
    noticedBy: 'a retry is never due before its time, and counts as a retry',
    spoil: (queue) => ({ lease: (requests, now, until) => queue.lease(requests, tomorrow(now), until) }),
  },
  {
    flaw: 'forgets a lane that it let go of',
    noticedBy: 'a lane let go of after a result is due when its next delivery is',
    spoil: (queue) => ({
      record: (results, now, until) =>
        queue.record(
          results.map((one) => ({ ...one, keepLane: true })),
          now,
          until,
        ),
    }),
  },
  {
    flaw: 'waits for a clock that was set back',
    noticedBy: 'after the clock was set back nothing waits longer than it was meant to',
    spoil: () => ({ planAnew: () => Promise.resolve(0) }),
  },
  {
    flaw: 'makes everything due when the clock was set back',
    noticedBy: 'after the clock was set back nothing waits longer than it was meant to',
    spoil: (queue) => ({
      planAnew: ({ leaseMs }, now, seen) => queue.planAnew({ gaps: [0, 0, 0], leaseMs }, now, seen),
    }),
  },
  {
    flaw: 'gives every redelivery the same number',
    noticedBy: 'no two attempts of a delivery carry the same number',
    spoil: (queue) => ({
      redeliver: async (event, webhookIds, now) =>
        (await queue.redeliver(event, webhookIds, now)).map((one) => ({ ...one, attempt: 2 })),
    }),
  },
  {
    flaw: 'removes nothing',
    noticedBy:
      'what is old is removed in small steps, what waits is kept, and an event goes with its last delivery',
    spoil: () => ({ cleanUp: () => Promise.resolve(0) }),
  },
];
