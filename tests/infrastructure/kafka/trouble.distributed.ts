import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { PublicEvent } from '../../../application/ports/event-bus.ts';
import { busEvent, busWorld, noLag, sequencesByCode } from '../../support/kafka/bus-world.ts';
import type { BusWorld } from '../../support/kafka/bus-world.ts';
import { KafkaBroker } from '../../support/kafka/kafka-broker.ts';
import { freePort } from '../../support/service-process.ts';
import { TcpProxy } from '../../support/tcp-proxy.ts';
import { until } from '../../support/within.ts';

let broker: KafkaBroker;
let proxy: TcpProxy;
let world: BusWorld;
let worlds = 0;

beforeAll(async () => {
  const port = await freePort();
  broker = await KafkaBroker.start(port);
  proxy = await TcpProxy.start({ port: broker.ports.broker }, port);
});

afterAll(async () => {
  await proxy?.close();
  await broker?.kill();
});

beforeEach(async () => void (world = await busWorld([broker.brokers], `trouble-${worlds++}.`)));

afterEach(async () => {
  await proxy.pass();
  await world.close();
});

/** A relay: one event after the other, each again and again until the bus has it. */
const relay = (publish: (events: readonly PublicEvent[]) => Promise<void>, operations: number) => {
  const stopping = new AbortController();
  let acknowledged = 0;
  let failures = 0;
  const run = async (): Promise<void> => {
    for (let n = 0; !stopping.signal.aborted; n++) {
      const event = busEvent(`OP-${n % operations}`, Math.floor(n / operations));
      for (let sent = false; !sent;) {
        sent = await publish([event]).then(
          () => true,
          () => (failures++, false),
        );
        if (!sent) await delay(20);
      }
      acknowledged += 1;
    }
  };
  const running = run();
  return {
    acknowledged: () => acknowledged,
    failures: () => failures,
    stop: async () => {
      stopping.abort();
      await running;
      return acknowledged;
    },
  };
};

const expectAll = (seen: readonly PublicEvent[], count: number, operations: number): void => {
  const expected: Record<string, number[]> = {};
  for (let n = 0; n < count; n++) (expected[`OP-${n % operations}`] ??= []).push(Math.floor(n / operations));
  expect(sequencesByCode(seen)).toEqual(expected);
};

const quick = { producer: { sendTimeoutMs: 4_000 } };

/** Publishes and consumes while something happens; answers when everything has arrived, in order and once. */
const throughout = async (
  happening: (failures: () => number) => Promise<void>,
): Promise<{ failures: number; seen: readonly PublicEvent[] }> => {
  const seen: PublicEvent[] = [];
  const { bus } = await world.consumer('g', async (events) => void seen.push(...events), quick);
  const { bus: publisher } = world.member(quick);
  const source = relay((events) => publisher.publish(events), 7);
  await until(() => seen.length > 50, 'a start');
  await happening(source.failures);
  const before = source.acknowledged();
  await until(() => source.acknowledged() > before + 50, 'publishing goes on', 60_000);
  const count = await source.stop();
  await until(() => seen.length >= count, 'all events', 60_000);
  await until(() => noLag(bus), 'no lag');
  expectAll(seen, count, 7);
  return { failures: source.failures(), seen };
};

describe('nothing is lost, doubled or out of order', () => {
  test('when the broker is killed and comes back', async () => {
    const { failures } = await throughout(async (failed) => {
      await broker.kill();
      await until(() => failed() > 0, 'a publication fails');
      await broker.start();
    });
    expect(failures).toBeGreaterThan(0);
  });

  test('when every connection is cut, again and again', async () => {
    await throughout(async () => {
      for (let n = 0; n < 10; n++) {
        proxy.cut();
        await delay(150);
      }
    });
  });

  test('when the network swallows everything for a while', async () => {
    const { failures } = await throughout(async (failed) => {
      proxy.blackhole();
      await until(() => failed() > 0, 'a publication fails');
      await proxy.pass();
    });
    expect(failures).toBeGreaterThan(0);
  });
});

test('a bus that is opened while the brokers are away works as soon as they are there', async () => {
  await proxy.refuse();
  const seen: PublicEvent[] = [];
  const { bus, logger } = await world.consumer('g', async (events) => void seen.push(...events), quick);
  const event = busEvent('OP-1', 0);
  await expect(bus.publish([event])).rejects.toThrow();
  expect(bus.status().publishingError).toBeDefined();
  await until(() => bus.status().groups.get('g')?.lastError !== undefined, 'a reason');
  expect(
    logger.lines.some(({ message }) => message === 'bus consumer lost its session, it starts again'),
  ).toBe(true);
  await proxy.pass();
  await until(
    () =>
      bus.publish([event]).then(
        () => true,
        () => false,
      ),
    'a publication',
  );
  await until(() => seen.length > 0, 'an event');
  // At least once: a session that is lost before its offset is stored hands it out again.
  expect(new Set(seen.map(({ eventId }) => eventId))).toEqual(new Set([event.eventId]));
  expect(bus.status().groups.get('g')).toMatchObject({ joined: true, lastError: undefined });
});

test('closing does not wait for brokers that are away', async () => {
  const { bus } = await world.consumer('g', async () => undefined, quick);
  await bus.publish([busEvent('OP-1', 0)]);
  proxy.blackhole();
  const began = performance.now();
  await bus.close();
  // Some seconds for leaving the group in order, and no waiting for an answer that a broker owes.
  expect(performance.now() - began).toBeLessThan(25_000);
});
