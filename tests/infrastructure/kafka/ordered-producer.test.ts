import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import kafkajs from 'kafkajs';
import type { Kafka } from 'kafkajs';
import { MessageTooLargeError } from '../../../application/ports/event-bus.ts';
import { OrderedProducer } from '../../../infrastructure/kafka/ordered-producer.ts';
import type { OutgoingMessage, ProducerSettings } from '../../../infrastructure/kafka/ordered-producer.ts';
import { RecordingLogger } from '../../support/recording-logger.ts';
import { until } from '../../support/within.ts';

interface Request {
  readonly producer: number;
  readonly values: readonly string[];
  readonly answer: PromiseWithResolvers<void>;
}

/** A cluster that answers when the test says so, and counts its producers. */
const cluster = () => {
  const requests: Request[] = [];
  const gone: number[] = [];
  let producers = 0;
  const kafka = {
    producer: () => {
      const producer = ++producers;
      return {
        connect: async () => undefined,
        disconnect: async () => void gone.push(producer),
        send: async ({ messages }: { messages: readonly { value: string }[] }) => {
          const answer = Promise.withResolvers<void>();
          requests.push({ producer, values: messages.map(({ value }) => value), answer });
          await answer.promise;
        },
      };
    },
  } as unknown as Kafka;
  const request = async (index: number): Promise<Request> => {
    for (let turns = 0; turns < 1_000 && !requests[index]; turns++) await turn();
    const found = requests[index];
    if (!found) throw new Error(`no request ${index}`);
    return found;
  };
  return { kafka, requests, gone, request };
};

const open = (
  kafka: Kafka,
  settings: Partial<ProducerSettings> = {},
  ready = async (): Promise<void> => undefined,
): OrderedProducer =>
  new OrderedProducer({
    kafka,
    topic: 'receivables.events',
    topics: { ready, requirePartitions: () => undefined },
    logger: new RecordingLogger(),
    settings: {
      sendTimeoutMs: 5_000,
      patientSendTimeoutMs: 5_000,
      maxMessageBytes: 1_000,
      maxRequestBytes: 2_000,
      ...settings,
    },
  });

const message = (value: string): OutgoingMessage => ({
  key: 'k',
  value,
  headers: { event_id: value.slice(0, 9) },
});
const outcome = (work: Promise<void>): Promise<string> =>
  work.then(
    () => 'sent',
    (error: Error) => error.message,
  );

describe('one request at a time, in the order of the calls', () => {
  test('calls that come in meanwhile wait and share the next request', async () => {
    const { kafka, request, requests } = cluster();
    const producer = open(kafka);
    const sent = ['a', 'b', 'c'].map((value) => producer.send([message(value)]));
    const first = await request(0);
    const late = producer.send([message('d')]);
    await turn();
    expect(requests).toHaveLength(1);
    first.answer.resolve();
    (await request(1)).answer.resolve();
    await Promise.all([...sent, late]);
    expect(requests.flatMap(({ values }) => values)).toEqual(['a', 'b', 'c', 'd']);
    expect(requests).toHaveLength(2);
    await producer.close();
  });

  test('a call at whatever moment of the end of another request is sent', async () => {
    for (let depth = 0; depth < 40; depth++) {
      const { kafka, request, requests } = cluster();
      const producer = open(kafka);
      const first = producer.send([message('a')]);
      const { answer } = await request(0);
      // So many steps of promises behind the acknowledgement.
      let moment: Promise<unknown> = answer.promise;
      for (let n = 0; n < depth; n++) moment = moment.then(() => undefined);
      const second = moment.then(() => producer.send([message('b')]));
      answer.resolve();
      await first;
      for (let turns = 0; turns < 10 && !requests[1]; turns++) await turn();
      expect([depth, requests.length]).toEqual([depth, 2]);
      requests[1]!.answer.resolve();
      await second;
      await producer.close();
    }
  });

  test('no request is larger than the broker takes', async () => {
    const { kafka, request, requests } = cluster();
    const producer = open(kafka);
    const values = Array.from({ length: 5 }, (_, n) => String(n).repeat(800));
    const sent = producer.send(values.map(message));
    for (let n = 0; n < 3; n++) (await request(n)).answer.resolve();
    await sent;
    expect(requests.map((one) => one.values.length)).toEqual([2, 2, 1]);
    expect(requests.flatMap((one) => one.values)).toEqual(values);
    await producer.close();
  });

  test('a message that can never be sent is refused by name before anything is sent', async () => {
    const { kafka, requests } = cluster();
    const producer = open(kafka);
    const call = producer.send([message('fine'), message('x'.repeat(1_001))]);
    await expect(call).rejects.toThrow(MessageTooLargeError);
    await expect(producer.send([message('y'.repeat(1_001))])).rejects.toThrow(
      /^message yyyyyyyyy for receivables\.events has \d+ bytes, more than the 1000 that are sent at most: no setting changes that/,
    );
    expect(requests).toEqual([]);
  });
});

describe.each([
  ['MESSAGE_TOO_LARGE', 10],
  ['RECORD_LIST_TOO_LARGE', 18],
])('a broker that takes less than we do and says %s', (type, code) => {
  const tooLarge = new kafkajs.KafkaJSProtocolError(
    Object.assign(new Error('larger than it takes'), { type, code }),
  );

  test('gets what it refused together one by one, in its order', async () => {
    const { kafka, request, requests, gone } = cluster();
    const producer = open(kafka);
    const sent = producer.send(['a', 'b', 'c'].map(message));
    (await request(0)).answer.reject(tooLarge);
    for (let n = 1; n <= 3; n++) (await request(n)).answer.resolve();
    await sent;
    expect(requests.map(({ values }) => values)).toEqual([['a', 'b', 'c'], ['a'], ['b'], ['c']]);
    expect([producer.lastError, gone]).toEqual([undefined, []]);
    await producer.close();
  });

  test('refuses a message by its name; calls beside it fail as they would of anything', async () => {
    const { kafka, request } = cluster();
    const producer = open(kafka);
    const first = producer.send([message('a')]);
    const { answer } = await request(0);
    const [large, beside] = [producer.send([message('large')]), producer.send([message('beside')])];
    const failures = Promise.all([large, beside].map((work) => work.catch((error: unknown) => error)));
    answer.resolve();
    (await request(1)).answer.reject(tooLarge);
    (await request(2)).answer.reject(tooLarge);
    await first;
    const [refused, other] = await failures;
    expect(refused).toBeInstanceOf(MessageTooLargeError);
    expect((refused as Error).message).toBe(
      'message large for receivables.events has 51 bytes, more than the broker takes: raise max.message.bytes of the topic, and segment.bytes where that is less',
    );
    expect(other).not.toBeInstanceOf(MessageTooLargeError);
    expect((other as Error).message).toContain('not sent with another: message large');
    await producer.close();
  });
});

test('a producer that is closed while it gets ready connects and sends no more', async () => {
  const { kafka, requests, gone } = cluster();
  const ready = Promise.withResolvers<void>();
  const producer = open(kafka, {}, () => ready.promise);
  const call = outcome(producer.send([message('a')]));
  await producer.close();
  ready.resolve();
  for (let turns = 0; turns < 10; turns++) await turn();
  expect([await call, requests.length, gone]).toEqual(['the producer is closed', 0, []]);
});

describe('after a failure', () => {
  test('whatever waited fails too, and the next call gets a new producer', async () => {
    const { kafka, request, requests, gone } = cluster();
    const producer = open(kafka);
    const first = outcome(producer.send([message('a')]));
    const failing = await request(0);
    const second = outcome(producer.send([message('b')]));
    failing.answer.reject(new Error('the broker went away'));
    expect(await Promise.all([first, second])).toEqual(['the broker went away', 'the broker went away']);
    expect(producer.lastError).toBe('the broker went away');
    const again = outcome(producer.send([message('a')]));
    (await request(1)).answer.resolve();
    expect(await again).toBe('sent');
    expect(requests.map((one) => one.producer)).toEqual([1, 2]);
    expect(gone).toContain(1);
    expect(producer.lastError).toBeUndefined();
    await producer.close();
  });

  test('a request that is never answered ends with its own time-out, and its producer is let go twice', async () => {
    const { kafka, request, gone } = cluster();
    const producer = open(kafka, { sendTimeoutMs: 20 });
    expect(await outcome(producer.send([message('a')]))).toContain('took longer than 20 ms');
    const late = await request(0);
    late.answer.resolve();
    for (let turns = 0; turns < 100 && gone.length < 2; turns++) await turn();
    expect(gone).toEqual([1, 1]);
    await producer.close();
  });

  test('brokers that have not agreed who leads are asked for longer than a moment, with everything anew', async () => {
    const { kafka, request, requests, gone } = cluster();
    const producer = open(kafka);
    const sent = outcome(producer.send([message('a'), message('b')]));
    const electing = Object.assign(new Error('no leader'), {
      retriable: true,
      type: 'NOT_LEADER_FOR_PARTITION',
    });
    const cause = new kafkajs.KafkaJSProtocolError(electing);
    for (let n = 0; n < 4; n++) {
      await until(() => requests.length > n, `try ${n}`);
      (await request(n)).answer.reject(
        new kafkajs.KafkaJSNumberOfRetriesExceeded(cause, { retryCount: 0, retryTime: 0 }),
      );
    }
    await until(() => requests.length > 4, 'the last try');
    (await request(4)).answer.resolve();
    expect(await sent).toBe('sent');
    expect(requests.map(({ values }) => values)).toEqual(Array(5).fill(['a', 'b']));
    expect(gone).toEqual([]);
    await producer.close();
  });

  test('three tries are short, for a broker that is frozen; the next ones are patient, for a cluster that is slow', async () => {
    const { kafka, request } = cluster();
    const producer = open(kafka, { sendTimeoutMs: 2, patientSendTimeoutMs: 200 });
    const tries: string[] = [];
    for (let n = 0; n < 4; n++) tries.push(await outcome(producer.send([message('a')])));
    const late = (ms: number): string => `sending to receivables.events took longer than ${ms} ms`;
    expect(tries).toEqual([late(2), late(2), late(2), late(200)]);
    const sent = outcome(producer.send([message('a')]));
    (await request(4)).answer.resolve();
    expect(await sent).toBe('sent');
    expect(await outcome(producer.send([message('b')]))).toBe(late(2));
    await producer.close();
  });

  test('closing fails what was not acknowledged', async () => {
    const { kafka, request } = cluster();
    const producer = open(kafka);
    const sent = [outcome(producer.send([message('a')]))];
    const first = await request(0);
    sent.push(outcome(producer.send([message('b')])));
    await producer.close();
    first.answer.reject(new Error('disconnected'));
    expect(await Promise.all(sent)).toEqual(['the producer is closed', 'the producer is closed']);
    expect(await outcome(producer.send([message('c')]))).toBe('the producer is closed');
  });
});
