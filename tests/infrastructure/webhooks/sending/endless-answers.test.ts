import type { Socket } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import { WebhookForwarder } from '../../../../infrastructure/webhooks/sending/forwarder.ts';
import { AttemptWorld, failed } from '../support/attempt-world.ts';

const world = await AttemptWorld.open();
afterEach(() => world.closeAll());

const OK = 'HTTP/1.1 200 OK\r\n';
const HINTS = 'HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n';
const CHUNKED = `${OK}Transfer-Encoding: chunked\r\n\r\n`;
const PIECE = 'a'.repeat(1_000);

/** What buffers on the way take, beyond what was read. */
const MOST_TAKEN = 8_000_000;

/** Writes for as long as it is read; answers how much was taken. */
const pour = (socket: Socket, start: string, piece: string): (() => number) => {
  const many = Buffer.from(piece.repeat(Math.ceil(64_000 / piece.length)));
  let taken = 0;
  const write = (): void => {
    while (!socket.destroyed && socket.write(many)) taken += many.length;
  };
  socket.on('error', () => undefined);
  socket.on('drain', write);
  socket.write(start);
  write();
  return () => taken;
};

const receiverThat = async (start: string, piece: string) => {
  let taken = (): number => 0;
  const closed = Promise.withResolvers<void>();
  const receiver = await world.receiver(world.leaf, (_response, _request, socket) => {
    socket.on('close', () => closed.resolve());
    taken = pour(socket, start, piece);
  });
  return { url: receiver.url, closed: closed.promise, taken: () => taken() };
};

const refused = (why: string) => failed('invalid_answer', `invalid answer: ${why}`);
const delivered = { kind: 'delivered', status: 200 } as const;
const NO_STATUS = 'no status in its first 64 KiB';

describe('what a receiver sends without end is read for a bounded time and to a bounded length:', () => {
  test.each<[string, string, string, object]>([
    ['interim answers', '', HINTS, refused('more than 10 interim answers')],
    [
      'interim answers of many lines',
      '',
      `HTTP/1.1 103 Early Hints\r\n${`Link: </${'x'.repeat(100)}>\r\n`.repeat(30)}\r\n`,
      refused('interim answers of more than 16 KiB'),
    ],
    [
      'lines of one interim answer',
      'HTTP/1.1 103 Early Hints\r\n',
      'Link: </x>\r\n',
      refused('its headers are too large'),
    ],
    ['lines of headers', OK, 'X: y\r\n', refused('its headers are too large')],
    ['cookies', OK, `Set-Cookie: a=${PIECE}\r\n`, refused('its headers are too large')],
    ['one header', `${OK}X: `, PIECE, refused('its headers are too large')],
    ['nothing but spaces in a header', `${OK}X:`, ' '.repeat(1_000), refused(NO_STATUS)],
    ['a reason', 'HTTP/1.1 200 ', PIECE, refused(NO_STATUS)],
    ['a reason of an interim answer', 'HTTP/1.1 103 ', PIECE, refused(NO_STATUS)],
    ['line breaks before the answer', '', '\r\n', refused(NO_STATUS)],
    ['an extension of a chunk', `${CHUNKED}5;`, PIECE, delivered],
    ['chunks of one byte with long extensions', CHUNKED, `1;${PIECE}\r\nx\r\n`, delivered],
    ['a trailer', `${CHUNKED}0\r\nX: `, PIECE, delivered],
    ['trailers', `${CHUNKED}0\r\n`, 'X: y\r\n', delivered],
    ['spaces in a trailer', `${CHUNKED}0\r\nX:`, ' '.repeat(1_000), delivered],
    ['a body whose length nothing says', 'HTTP/1.0 200 OK\r\n\r\n', PIECE, delivered],
    [
      'more answers behind the first',
      `${OK}Content-Length: 0\r\n\r\n`,
      `${OK}Content-Length: 0\r\n\r\n`,
      delivered,
    ],
    [
      'a refusal with an extension',
      `${CHUNKED.replace('200 OK', '500 No')}5;`,
      PIECE,
      failed('http_status', 'http status 500', 500),
    ],
  ])('%s', async (_name, start, piece, expected) => {
    const { url, closed, taken } = await receiverThat(start, piece);
    const sender = world.sender();
    const { responseBody: _, ...outcome } = (await world.attempt(url, sender)) as { responseBody?: string };
    expect(outcome).toEqual(expected);
    await closed;
    expect(taken()).toBeLessThan(MOST_TAKEN);
  });

  test.each([
    ['', 'line breaks on a connection that waits', '\r\n'],
    ['', 'the beginning of an answer that nothing asked for', 'HTTP/1.1 103 '],
  ])('%s%s', async (_, _name, piece) => {
    const { url, closed, taken } = await receiverThat(`${OK}Content-Length: 0\r\n\r\n`, piece);
    expect(await world.attempt(url)).toEqual(delivered);
    await closed;
    expect(taken()).toBeLessThan(MOST_TAKEN);
  });
});

describe('an answer is read to its end', () => {
  const answering = async (text: string): Promise<unknown> => {
    const { url } = await world.receiver(
      world.leaf,
      (_response, _request, socket) => void socket.write(text),
    );
    return world.attempt(url);
  };

  test('behind ten interim answers, and not behind eleven', async () => {
    const end = `${OK}Content-Length: 0\r\n\r\n`;
    expect(await answering(HINTS.repeat(10) + end)).toEqual(delivered);
    expect(await answering(HINTS.repeat(11) + end)).toEqual(refused('more than 10 interim answers'));
  });

  test('behind almost 16 KiB of interim answers, and not behind more', async () => {
    const hint = (length: number): string =>
      `HTTP/1.1 103 Early Hints\r\nLink: ${'x'.repeat(length)}\r\n\r\n`;
    const end = `${OK}Content-Length: 0\r\n\r\n`;
    expect(await answering(hint(8_000).repeat(2) + end)).toEqual(delivered);
    expect(await answering(hint(8_200).repeat(2) + end)).toEqual(
      refused('interim answers of more than 16 KiB'),
    );
  });

  test('also where its body comes in chunks of one byte', async () => {
    const body = '1\r\nx\r\n'.repeat(20_000);
    expect(await answering(`${CHUNKED}${body}0\r\nX-Sum: 1\r\n\r\n`)).toEqual({
      ...delivered,
      responseBody: 'x'.repeat(2_048),
    });
  });

  test.each([
    ['HTTP/1.1 101 Switching Protocols\r\n\r\n', 'it switches to another protocol'],
    [
      'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n',
      'it switches to another protocol',
    ],
    ['HTTP/1.1 100 Continue\r\n\r\n', '100 Continue, which nothing had asked for'],
  ])('%j is a failure that says so', async (text, why) => {
    expect(await answering(text)).toEqual(refused(why));
  });
});

test('what `listen` posts to is read no further', async () => {
  const send = async (text: string): Promise<string> => {
    const { port } = await world.tcpReceiver((socket) => {
      socket.once('data', () => void pour(socket, '', text));
    });
    const forwarder = new WebhookForwarder({
      url: `http://127.0.0.1:${port}/hook?a=b`,
      secret: 's',
      timeoutMs: 8_000,
      now: Date.now,
    });
    return forwarder.send(
      { eventId: 'e', name: 'loan_received', body: '{}' },
      1,
      new AbortController().signal,
    );
  };
  expect(await send(HINTS)).toBe('invalid answer: more than 10 interim answers');
  expect(await send('\r\n')).toBe(`invalid answer: ${NO_STATUS}`);
  expect(await send(`${OK}\r\n`)).toBe('200');
});
