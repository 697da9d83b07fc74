import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import type { PublicEvent } from '../../../application/ports/event-bus.ts';
import { InProcessEventBus } from '../../../infrastructure/embedded/in-process-event-bus.ts';
import { describeEventBusContract } from '../../contracts/event-bus-contract.ts';

describeEventBusContract('InProcessEventBus', async () => new InProcessEventBus({ firstRetryMs: 1 }));

const event = (sequence: number): PublicEvent => ({
  eventId: `00000000-0000-4000-8000-00000000000${sequence}`,
  name: 'loan_received',
  applicationId: 'application-1',
  fundId: 'fund-1',
  code: 'P-1',
  sequence,
  timestamp: '2026-01-15T12:00:00.000Z',
  body: '{}',
});

describe('the bus within one process', () => {
  test('publish resolves only when the slowest group has handled the batch', async () => {
    const bus = new InProcessEventBus();
    const gate = Promise.withResolvers<void>();
    const order: string[] = [];
    await bus.consume('fast', async () => void order.push('fast'));
    await bus.consume('slow', async () => {
      await gate.promise;
      order.push('slow');
    });
    const published = bus.publish([event(1)]).then(() => order.push('published'));
    await turn();
    expect(order).toEqual(['fast']);
    gate.resolve();
    await published;
    expect(order).toEqual(['fast', 'slow', 'published']);
    await bus.close();
  });

  test('events that nobody consumes yet wait for the first group, in order', async () => {
    const bus = new InProcessEventBus();
    const seen: number[] = [];
    const early = [bus.publish([event(1)]), bus.publish([event(2)])];
    await turn();
    await bus.consume('late', async (events) => void seen.push(...events.map(({ sequence }) => sequence)));
    await Promise.all([...early, bus.publish([event(3)])]);
    expect(seen).toEqual([1, 2, 3]);
    await bus.close();
  });

  test('a publisher whose batch was not handled before closing gets an error, and so do later ones', async () => {
    const bus = new InProcessEventBus({ closeGraceMs: 10 });
    const started = Promise.withResolvers<void>();
    await bus.consume('stuck', () => {
      started.resolve();
      return new Promise<void>(() => undefined);
    });
    const outcome = expect(bus.publish([event(1)])).rejects.toThrow('closed');
    await started.promise;
    await bus.close();
    await outcome;
    await expect(bus.publish([event(2)])).rejects.toThrow('closed');
    await expect(bus.consume('more', async () => undefined)).rejects.toThrow('closed');
  });

  test('a publisher that waits for the first group gets an error when the bus closes', async () => {
    const bus = new InProcessEventBus();
    const outcome = expect(bus.publish([event(1)])).rejects.toThrow('closed');
    await bus.close();
    await outcome;
  });

  test('closing lets a running handler finish', async () => {
    const bus = new InProcessEventBus();
    const started = Promise.withResolvers<void>();
    let finished = false;
    await bus.consume('group', async () => {
      started.resolve();
      await turn();
      await turn();
      finished = true;
    });
    bus.publish([event(1)]).catch(() => undefined);
    await started.promise;
    await bus.close();
    expect(finished).toBe(true);
  });

  test('a group has one handler', async () => {
    const bus = new InProcessEventBus();
    await bus.consume('group', async () => undefined);
    await expect(bus.consume('group', async () => undefined)).rejects.toThrow('group already has a handler');
    await bus.close();
  });
});
