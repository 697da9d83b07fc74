import { createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import {
  FirstBrokers,
  waitingBehind,
  QuietSockets,
  kafkaClient,
  withAdmin,
} from '../../../infrastructure/kafka/kafka-client.ts';
import { RecordingLogger } from '../../support/recording-logger.ts';

describe('a connection', () => {
  /** Longer than a connection has to be quiet. */
  const QUIET_MS = 100;
  let server: Server;
  let answering: Socket;
  let sockets: QuietSockets;
  let socket: Socket;
  let port: number;
  let connected = 0;
  const answer = (length: number): Buffer => {
    const bytes = Buffer.alloc(4 + length, length);
    bytes.writeInt32BE(length);
    return bytes;
  };

  beforeEach(async () => {
    const { promise, resolve } = Promise.withResolvers<Socket>();
    server = createServer(resolve);
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    ({ port } = server.address() as AddressInfo);
    connected = 0;
    sockets = new QuietSockets();
    socket = sockets.open({ host: '127.0.0.1', port, ssl: undefined as never, onConnect: () => connected++ });
    answering = await promise;
  });

  afterEach(async () => {
    socket.destroy();
    answering.destroy();
    await new Promise((closed) => server.close(closed));
  });

  test('says once more that it is connected when nothing has come for a moment, and then no more', async () => {
    await delay(QUIET_MS);
    expect(connected).toBe(1);
    answering.write(answer(9));
    await delay(QUIET_MS);
    expect(connected).toBe(2);
    await delay(QUIET_MS);
    expect(connected).toBe(2);
    answering.write(answer(7));
    await delay(QUIET_MS);
    expect(connected).toBe(3);
  });

  test('leaves requests alone that wait for their time at this broker', async () => {
    sockets.queued(`127.0.0.1:${port}`, 0);
    sockets.queued('elsewhere:1', 1);
    answering.write(answer(9));
    await delay(QUIET_MS);
    expect(connected).toBe(2);
    sockets.queued(`127.0.0.1:${port}`, 1);
    sockets.queued(`127.0.0.1:${port}`, 0);
    answering.write(answer(7));
    await delay(QUIET_MS);
    expect(connected).toBe(2);
  });

  test('hands answers on as wholes, however they come, and never a part of one', async () => {
    const told: Buffer[] = [];
    const ended = Promise.withResolvers<void>();
    answering.setNoDelay(true);
    socket.on('data', (bytes: Buffer) => told.push(bytes)).on('end', ended.resolve);
    const answers = [0, 1, 300, 5, 70_000].map(answer);
    const bytes = Buffer.concat([...answers, answer(50).subarray(0, 40)]);
    let at = 0;
    for (const size of [...Array<number>(120).fill(3), ...Array<number>(8).fill(9_999)]) {
      answering.write(bytes.subarray(at, (at += size)));
      await new Promise(setImmediate);
    }
    answering.end();
    await ended.promise;
    expect(Buffer.concat(told)).toEqual(Buffer.concat(answers));
    const whole = answers.map((_, n) => Buffer.concat(answers.slice(0, n + 1)).length);
    const ends = told.map((_, n) => Buffer.concat(told.slice(0, n + 1)).length);
    expect(ends.filter((end) => !whole.includes(end))).toEqual([]);
  });

  test('says nothing once it ends', async () => {
    answering.write(answer(9));
    socket.end();
    await delay(QUIET_MS);
    expect(connected).toBe(1);
  });
});

test('a connection that ends in the middle of an answer is followed by one that works', async () => {
  /** Which requests are known, in version 2: one, whose numbers are zeros but for the last. */
  const known = Buffer.from('0000' + '00000001' + '000000000007' + '00000000', 'hex');
  let connections = 0;
  const server = createServer((socket) => {
    const isFirst = ++connections === 1;
    socket
      .on('error', () => undefined)
      .on('data', (request: Buffer) => {
        const head = Buffer.alloc(8);
        head.writeInt32BE(4 + known.length);
        request.copy(head, 4, 8, 12);
        const answer = Buffer.concat([head, known]);
        if (isFirst) socket.end(answer.subarray(0, 10));
        else socket.write(answer);
      });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const brokers = [`127.0.0.1:${(server.address() as AddressInfo).port}`];
  try {
    const kafka = kafkaClient({ brokers, clientId: 'test', logger: new RecordingLogger() });
    await expect(withAdmin(kafka, async () => 'connected')).resolves.toBe('connected');
    expect(connections).toBe(2);
  } finally {
    await new Promise((closed) => server.close(closed));
  }
});

describe('a new client begins', () => {
  const begun = (first: FirstBrokers, times: number) => Array.from({ length: times }, () => first.next());

  test('at one broker after the other while none has answered', () => {
    expect(begun(new FirstBrokers(['a:1', 'b:1', 'c:1']), 4)).toEqual(['a:1', 'b:1', 'c:1', 'a:1']);
  });

  test('at the one that answered last; one that was begun at and gave no answer comes last', () => {
    const first = new FirstBrokers(['a:1', 'b:1', 'c:1']);
    const answering = (): string => {
      const address = first.next();
      first.answered(address);
      return address;
    };
    expect([answering(), answering(), answering()]).toEqual(['a:1', 'a:1', 'a:1']);
    // It is frozen now.
    expect(first.next()).toBe('a:1');
    expect([answering(), answering(), answering()]).toEqual(['b:1', 'b:1', 'b:1']);
    // So are both, and some client hears of the third.
    first.answered('c:1');
    expect(begun(first, 3)).toEqual(['c:1', 'b:1', 'a:1']);
  });

  test('at none but those that were given', () => {
    const first = new FirstBrokers(['given:1']);
    first.answered('told:1');
    expect(begun(first, 2)).toEqual(['given:1', 'given:1']);
  });
});

test.each([
  ['nothing yet', [], 5],
  ['a part', [12], 3],
  ['only what has expired since', [4], 5],
  ['all', [15], 0],
  ['more than there is, as of a topic that was made anew', [40], 0],
])('behind who has handled %s wait the messages that are still there', (_, next, waiting) => {
  const marks = { low: 10, high: 15 };
  const both = new Map([marks, marks].entries());
  expect(waitingBehind(new Map([[0, marks]]), new Map(next.entries()))).toBe(waiting);
  // Nothing of the other partition was handled.
  expect(waitingBehind(both, new Map(next.entries()))).toBe(waiting + 5);
});
