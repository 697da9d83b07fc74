import { randomUUID } from 'node:crypto';
import { setImmediate as turn, setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { MessageTooLargeError } from '../../application/ports/event-bus.ts';
import type { EventBus, PublicEvent } from '../../application/ports/event-bus.ts';
import { until } from '../support/within.ts';

/** A promise of the port. Each case gets a bus of its own and uses group names and codes that no other case uses. */
interface EventBusCase {
  readonly name: string;
  /** @param patienceMs how long to wait for what must happen */
  readonly check: (bus: EventBus, patienceMs: number) => Promise<void>;
}

type Batches = readonly (readonly PublicEvent[])[];

/** Its body is written as no serializer would, so that one that reads and writes it again is found out. */
const sampleEvent = (code: string, sequence: number): PublicEvent => {
  const event = {
    eventId: randomUUID(),
    name: 'installment_settled',
    applicationId: 'application-1',
    fundId: '6f2f9d6a-58f1-4a5e-9f0c-3d8f5f6f7a10',
    code,
    sequence,
    timestamp: '2026-01-15T12:00:00.000Z',
  };
  const envelope = `"event":"${event.name}","event_id":"${event.eventId}","originator_proposal_code":"${code}"`;
  const times = `"fund_id":"${event.fundId}","timestamp":"${event.timestamp}"`;
  const body = `{${envelope},${times},"settled_value":950.00,"sequence":${sequence}, "text":"ação ✓"}`;
  return { ...event, body };
};

const sampleEvents = (count: number, from = 0): readonly PublicEvent[] => {
  const code = `P-${randomUUID()}`;
  return Array.from({ length: count }, (_, n) => sampleEvent(code, from + n));
};

const newGroup = (): string => `group-${randomUUID()}`;

const settled = async (work: Promise<void>, patienceMs: number, what: string): Promise<void> => {
  let done = false;
  const finished = work.finally(() => (done = true));
  await Promise.all([until(() => done, what, patienceMs), finished]);
};

/** Publishing may fail once the bus closes; the cases look at what arrived. */
const publishAside = (bus: EventBus, events: readonly PublicEvent[]): void =>
  void bus.publish(events).catch(() => undefined);

const seenBy = async (bus: EventBus, group = newGroup()): Promise<readonly PublicEvent[]> => {
  const seen: PublicEvent[] = [];
  await bus.consume(group, async (events) => {
    await turn();
    seen.push(...events);
  });
  return seen;
};

const deliveryCases: readonly EventBusCase[] = [
  {
    name: 'a group gets the published events whole, their bodies to the character, and in order',
    check: async (bus, patienceMs) => {
      const seen = await seenBy(bus);
      const [first, second] = [sampleEvents(3), sampleEvents(2)];
      await settled(bus.publish(first), patienceMs, 'publishing');
      await settled(bus.publish(second), patienceMs, 'publishing');
      await until(() => seen.length >= 5, 'five events', patienceMs);
      for (const events of [first, second])
        expect(seen.filter(({ code }) => code === events[0]?.code)).toEqual(events);
    },
  },
  {
    name: 'every group gets every event',
    check: async (bus, patienceMs) => {
      const groups = [await seenBy(bus), await seenBy(bus), await seenBy(bus)];
      const events = sampleEvents(4);
      await settled(bus.publish(events), patienceMs, 'publishing');
      await until(() => groups.every((seen) => seen.length >= 4), 'four events a group', patienceMs);
      expect(groups).toEqual([events, events, events]);
    },
  },
  {
    name: 'the order of an operation holds over batches that are published without waiting',
    check: async (bus, patienceMs) => {
      const seen = await seenBy(bus);
      const events = sampleEvents(60);
      for (let n = 0; n < 60; n += 3) publishAside(bus, events.slice(n, n + 3));
      await until(() => seen.length >= 60, 'sixty events', patienceMs);
      expect(seen).toEqual(events);
    },
  },
  {
    name: 'an event of any size arrives, or is refused as too large, and those after it arrive',
    check: async (bus, patienceMs) => {
      const seen = await seenBy(bus);
      const [small, after] = sampleEvents(2) as [PublicEvent, PublicEvent];
      const large = { ...small, body: small.body.replace('{', `{"padding":"${'x'.repeat(2_000_000)}",`) };
      const refusal = await settled(bus.publish([large]), patienceMs, 'publishing').catch(
        (error: unknown) => error,
      );
      if (refusal !== undefined) expect(refusal).toBeInstanceOf(MessageTooLargeError);
      await settled(bus.publish([after]), patienceMs, 'publishing');
      await until(() => seen.some(({ sequence }) => sequence === 1), 'the event after it', patienceMs);
      expect(seen.map(({ body }) => body.length)).toEqual(
        [...(refusal === undefined ? [large] : []), after].map(({ body }) => body.length),
      );
    },
  },
  {
    name: 'publishing nothing is fine and disturbs nobody',
    check: async (bus, patienceMs) => {
      const batches: (readonly PublicEvent[])[] = [];
      await bus.consume(newGroup(), async (events) => void batches.push(events));
      await settled(bus.publish([]), patienceMs, 'publishing nothing');
      const events = sampleEvents(1);
      await settled(bus.publish(events), patienceMs, 'publishing');
      await until(() => batches.length > 0, 'a batch', patienceMs);
      expect(batches).toEqual([events]);
    },
  },
];

const failingTwice = async (bus: EventBus, batches: (readonly PublicEvent[])[]): Promise<Batches> => {
  await bus.consume(newGroup(), async (events) => {
    batches.push(events);
    await turn();
    if (batches.length <= 2) throw new Error('the database is away');
  });
  return batches;
};

const failureCases: readonly EventBusCase[] = [
  {
    name: 'a handler that throws gets the same batch again, and nothing later before it',
    check: async (bus, patienceMs) => {
      const batches = await failingTwice(bus, []);
      const events = sampleEvents(4);
      publishAside(bus, events.slice(0, 2));
      publishAside(bus, events.slice(2));
      await until(() => batches.slice(2).flat().length >= 4, 'all events after two failures', patienceMs);
      expect([batches[1], batches[2]]).toEqual([batches[0], batches[0]]);
      expect(batches.slice(2).flat()).toEqual(events);
    },
  },
  {
    name: 'a handler that fails again and again still handles everything in the end, in order',
    check: async (bus, patienceMs) => {
      const handled: PublicEvent[] = [];
      let calls = 0;
      await bus.consume(newGroup(), async (events) => {
        calls += 1;
        if (calls % 3 !== 0) throw new Error(`failure ${calls}`);
        handled.push(...events);
      });
      const events = sampleEvents(10);
      for (const event of events) publishAside(bus, [event]);
      await until(() => handled.length >= 10, 'ten handled events', patienceMs);
      expect(handled).toEqual(events);
    },
  },
  {
    name: 'a group whose handler fails does not keep another from its events',
    check: async (bus, patienceMs) => {
      let failures = 0;
      await bus.consume(newGroup(), async () => {
        failures += 1;
        throw new Error('for ever');
      });
      const seen = await seenBy(bus);
      const events = sampleEvents(2);
      publishAside(bus, events);
      await until(() => seen.length >= 2 && failures > 1, 'events in the sound group', patienceMs);
      expect(seen).toEqual(events);
    },
  },
  {
    name: 'a group handles one batch after the other, never two at once',
    check: async (bus, patienceMs) => {
      let running = 0;
      let most = 0;
      const seen: PublicEvent[] = [];
      await bus.consume(newGroup(), async (events) => {
        running += 1;
        most = Math.max(most, running);
        await turn();
        seen.push(...events);
        running -= 1;
      });
      const events = sampleEvents(20);
      for (const event of events) publishAside(bus, [event]);
      await until(() => seen.length >= 20, 'twenty events', patienceMs);
      expect([most, seen]).toEqual([1, events]);
    },
  },
  {
    name: 'closing ends promptly while a handler keeps failing, and nothing is handed out afterwards',
    check: async (bus, patienceMs) => {
      let calls = 0;
      await bus.consume(newGroup(), async () => {
        calls += 1;
        throw new Error('for ever');
      });
      publishAside(bus, sampleEvents(1));
      await until(() => calls > 1, 'a repetition', patienceMs);
      await settled(bus.close(), patienceMs, 'closing');
      const before = calls;
      await delay(20);
      expect(calls).toBe(before);
    },
  },
];

export const eventBusCases: readonly EventBusCase[] = [...deliveryCases, ...failureCases];

/** Registers every promise of the port as a test of this adapter; there is no way to leave one out. */
export const describeEventBusContract = (
  adapter: string,
  open: () => Promise<EventBus>,
  patienceMs = 60_000,
): void => {
  describe(`${adapter} keeps the promises of the event bus`, () => {
    test.each(eventBusCases)('$name', async ({ check }) => {
      const bus = await open();
      try {
        await check(bus, patienceMs);
      } finally {
        await bus.close();
      }
    });
  });
};
