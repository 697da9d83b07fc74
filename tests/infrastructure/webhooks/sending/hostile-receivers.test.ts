import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import type { Answer } from '../../../support/tls-receiver.ts';
import { AttemptWorld, LONG_MS, SHORT_MS, failed, late } from '../support/attempt-world.ts';

const world = await AttemptWorld.open();
afterEach(() => world.closeAll());

describe('a receiver that', () => {
  const drip = (write: () => boolean): NodeJS.Timeout => setInterval(write, 20);
  const behaviours: readonly [string, Answer, ReturnType<typeof failed> & { responseBody?: string }][] = [
    ['never answers', () => undefined, late('waiting for the answer')],
    [
      'drips its headers',
      (_response, _request, socket) => {
        socket.write('HTTP/1.1 200 OK\r\nX-Drip: ');
        const timer = drip(() => socket.write('x'));
        socket.on('close', () => clearInterval(timer));
      },
      late('waiting for the answer'),
    ],
    [
      'drips its body',
      (response) => {
        response.writeHead(200);
        const timer = drip(() => response.write('x'));
        response.on('close', () => clearInterval(timer));
      },
      {
        ...late('reading the answer', 200),
        responseBody: expect.stringMatching(/^x+$/) as unknown as string,
      },
    ],
    [
      'closes in the middle of its answer',
      (response, _request, socket) => {
        response.writeHead(200, { 'content-length': '1000' });
        response.write('half', () => socket.destroy());
      },
      {
        ...failed('connection_lost', 'the connection was closed before the answer was complete', 200),
        responseBody: 'half',
      },
    ],
    [
      'redirects to another place',
      (response) => void response.writeHead(307, { location: 'https://169.254.169.254/latest' }).end(),
      failed('http_status', 'http status 307: redirects are not followed', 307),
    ],
    [
      'sends more headers than anybody reads',
      (_response, _request, socket) =>
        void socket.end(`HTTP/1.1 200 OK\r\nX-Bomb: ${'x'.repeat(100_000)}\r\n\r\n`),
      failed('invalid_answer', /^invalid answer/),
    ],
    [
      'says two lengths of its body',
      (_response, _request, socket) =>
        void socket.write(
          'HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
        ),
      failed('invalid_answer', 'invalid answer: its headers do not say one length of its body'),
    ],
    [
      'does not speak HTTP',
      (_response, _request, socket) => void socket.end('SMTP ready\r\n'),
      failed('invalid_answer', /^invalid answer/),
    ],
    [
      'drips interim answers',
      (_response, _request, socket) => {
        const timer = drip(() => socket.write('HTTP/1.1 102 Processing\r\n\r\n'));
        socket.on('close', () => clearInterval(timer));
      },
      failed('invalid_answer', 'invalid answer: more than 10 interim answers'),
    ],
  ];

  test.each(behaviours)('%s fails within its time, with the reason', async (_name, behave, expected) => {
    const { url } = await world.receiver(world.leaf, behave);
    const timeoutMs = expected.reason === 'timeout' ? SHORT_MS : LONG_MS;
    expect(await world.attempt(url, world.sender(), timeoutMs)).toEqual(expected);
  });

  test.each([
    [200, { kind: 'delivered', status: 200 }],
    [500, failed('http_status', 'http status 500', 500)],
  ])(
    'answers %i and 100 MB is judged by its status; what is behind 64 KiB stays unread',
    async (status, outcome) => {
      const big = Buffer.alloc(1024 * 1024, 'x');
      let written = 0;
      const { url } = await world.receiver(world.leaf, (response) => {
        response.writeHead(status, { 'content-length': String(100 * big.length) });
        const pour = (): void => {
          while (!response.destroyed && response.write(big)) written += 1;
        };
        response.on('drain', pour);
        pour();
      });
      const sender = world.sender();
      expect(await world.attempt(url, sender)).toEqual({ ...outcome, responseBody: 'x'.repeat(2048) });
      expect(written).toBeLessThan(100);
      // The connection that still has megabytes to bring is not used again.
      expect(await world.attempt(url, sender)).toMatchObject({ kind: outcome.kind });
    },
  );

  test('closes before it answers fails at once', async () => {
    const { url } = await world.receiver(world.leaf, (_response, _request, socket) => socket.destroy());
    const outcome = await world.attempt(url);
    expect(outcome).toEqual(
      failed('connection_lost', 'the connection was closed before the answer was complete'),
    );
  });

  test('never shakes hands gets no request, even when it wakes up later', async () => {
    const sleeping: Socket[] = [];
    const { url } = await world.tcpReceiver((socket) => void sleeping.push(socket));
    expect(await world.attempt(url, world.sender(), SHORT_MS - 0.25)).toEqual(late('connecting'));
    expect(sleeping).toHaveLength(1);
    if (!sleeping[0]!.destroyed) await once(sleeping[0]!.resume(), 'close');
  });

  test('hangs up during the handshake fails', async () => {
    const { url } = await world.tcpReceiver((socket) => socket.destroy());
    expect(await world.attempt(url)).toEqual(failed('connection_lost', /closed/));
  });

  test('is not there is refused', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    server.close();
    expect(await world.attempt(`https://localhost:${port}/`)).toEqual(
      failed('connection_refused', 'connection refused'),
    );
  });
});
