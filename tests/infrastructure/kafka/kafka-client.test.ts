import { createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import {
  FirstBrokers,
  askAgain,
  waitingBehind,
  QuietSockets,
} from '../../../infrastructure/kafka/kafka-client.ts';

describe('a connection', () => {
  /** Longer than a connection has to be quiet. */
  const QUIET_MS = 100;
  let server: Server;
  let answering: Socket;
  let sockets: QuietSockets;
  let socket: Socket;
  let port: number;
  let connected = 0;

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
    answering.write('an answer');
    await delay(QUIET_MS);
    expect(connected).toBe(2);
    await delay(QUIET_MS);
    expect(connected).toBe(2);
    answering.write('another');
    await delay(QUIET_MS);
    expect(connected).toBe(3);
  });

  test('leaves requests alone that wait for their time at this broker', async () => {
    sockets.queued(`127.0.0.1:${port}`, 0);
    sockets.queued('elsewhere:1', 1);
    answering.write('an answer');
    await delay(QUIET_MS);
    expect(connected).toBe(2);
    sockets.queued(`127.0.0.1:${port}`, 1);
    sockets.queued(`127.0.0.1:${port}`, 0);
    answering.write('another');
    await delay(QUIET_MS);
    expect(connected).toBe(2);
  });

  test('says nothing once it ends', async () => {
    answering.write('an answer');
    socket.end();
    await delay(QUIET_MS);
    expect(connected).toBe(1);
  });
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
  ['nothing yet', undefined, 5],
  ['a part', 12, 3],
  ['only what has expired since', 4, 5],
  ['all', 15, 0],
  ['more than there is, as of a topic that was made anew', 40, 0],
])('behind who has handled %s wait the messages that are still there', (_, next, waiting) => {
  expect(waitingBehind({ low: 10, high: 15 }, next)).toBe(waiting);
});

test.each([
  ['may pass, as often as it may be', true, 3],
  ['may not pass, once', false, 1],
])('a question whose failure %s', async (_, mayPass, times) => {
  let asked = 0;
  const ask = async (): Promise<never> => {
    throw new Error(`failure ${++asked}`);
  };
  await expect(askAgain(ask, () => mayPass, 3)).rejects.toThrow(`failure ${times}`);
});
