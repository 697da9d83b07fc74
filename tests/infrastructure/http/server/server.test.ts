import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { afterAll, describe, expect, test } from '@jest/globals';
import type { SettlementReceipt } from '../../../../application/loans/payments.ts';
import { TokenBucketLimiter } from '../../../../infrastructure/http/limits/rate-limiter.ts';
import { DEFAULT_LIMITS, createHttpServer } from '../../../../infrastructure/http/server/http-server.ts';
import { tokenFor } from '../../../support/http-fakes.ts';
import { validSettlement } from '../../../support/http-requests.ts';
import { HttpWorld } from '../../../support/http-world.ts';

const world = await HttpWorld.start({ limits: { checkIntervalMs: 50 } });
afterAll(() => world.stop());

interface RawAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: ReturnType<typeof JSON.parse>;
}

const open = async (port = world.port): Promise<Socket> => {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  return socket;
};

const parseAnswer = (text: string): RawAnswer => {
  const [head = '', body = ''] = text.split('\r\n\r\n');
  const [line = '', ...fields] = head.split('\r\n');
  const headers = new Headers(fields.map((field) => field.split(/: (.*)/s, 2) as [string, string]));
  return { status: Number(line.split(' ')[1]), headers, body: JSON.parse(body) as unknown };
};

/** Sends bytes and reads until the server closes. */
const exchange = async (bytes: string): Promise<RawAnswer> => {
  const socket = await open();
  let text = '';
  socket.on('data', (chunk) => (text += chunk.toString()));
  socket.write(bytes);
  await once(socket, 'close');
  return parseAnswer(text);
};

/** While the server soon takes a request for too slow, as it takes any other of a busy machine. */
const soonTooSlow = async (bytes: string): Promise<RawAnswer> => {
  const { server } = world.http;
  const { headersTimeout, requestTimeout } = server;
  Object.assign(server, { headersTimeout: 150, requestTimeout: 300 });
  try {
    return await exchange(bytes);
  } finally {
    Object.assign(server, { headersTimeout, requestTimeout });
  }
};

const expectErrorBody = async ({ status, headers, body }: RawAnswer): Promise<void> => {
  expect(body).toMatchObject({
    error_code: status === 408 ? 'request_timeout' : 'invalid_request',
    retryable: status === 408,
    message: expect.any(String),
    request_id: headers.get('x-request-id'),
  });
  expect(headers.get('x-svc-api-version')).toBe(world.description.document['info'].version);
  expect(headers.get('x-ratelimit-limit')).toBe('1200');
  expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
  const usual = await fetch(`${world.baseUrl}/nothing`);
  const own = /^(date|keep-alive|connection|content-length|x-request-id|x-ratelimit-.*)$/;
  for (const [name, value] of usual.headers)
    if (!own.test(name)) expect([name, headers.get(name)]).toEqual([name, value]);
};

const settleHead = (extra: string, length: number): string =>
  `POST /installment/settle HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${tokenFor('client-a')}\r\n` +
  `Content-Type: application/json\r\nContent-Length: ${length}\r\n${extra}\r\n`;

describe('requests that never become one', () => {
  test.each([
    ['not HTTP', 'hello\r\n\r\n', 400],
    ['a broken header', 'GET / HTTP/1.1\r\nHost: x\r\nbad header\r\n\r\n', 400],
    [
      'two lengths',
      'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n',
      400,
    ],
    ['headers too large', `GET / HTTP/1.1\r\nHost: x\r\nX-Big: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
    ['headers too slow', 'GET / HTTP/1.1\r\nHost: x\r\n', 408],
    ['no Host', 'GET /loan HTTP/1.1\r\nConnection: close\r\n\r\n', 400],
  ])('%s', async (_what, bytes, status) => {
    const answer = await (status === 408 ? soonTooSlow : exchange)(bytes);
    expect(answer.status).toBe(status);
    await expectErrorBody(answer);
    if (status === 431)
      expect(answer.body).toMatchObject({ message: expect.stringContaining('16384 bytes') });
  });

  test.each([
    ['GET /loan/a b HTTP/1.1\r\nHost: x\r\n\r\n', 'a space in an address is written %20'],
    ['GET /loan/\u00e9 HTTP/1.1\r\nHost: x\r\n\r\n', 'has to be percent-encoded'],
    [
      'GET /loan HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer a\n\r\n\r\n',
      'Missing expected CR after header value',
    ],
    ['GET /loan HTTP/1.1\r\nHost: x\r\nX-A: a\u0001b\r\n\r\n', 'Invalid header value char'],
    ['POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1e3\r\n\r\n', 'Invalid character in Content-Length'],
    ['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'HTTP/2 is not spoken here'],
    ['CONNECT a:443 HTTP/1.1\r\nHost: x\r\n\r\n', 'CONNECT is for proxies'],
    ['{"rest":"of a body"}\r\n\r\n', 'may be longer than its Content-Length says'],
  ])('the answer says what is wrong: %j', async (bytes, why) => {
    const { status, body } = await exchange(bytes);
    expect([status, body.message]).toEqual([
      400,
      expect.stringMatching(/^this is not a valid HTTP request: /),
    ]);
    expect(body.message).toContain(why);
  });

  test('a body that drips in is cut off', async () => {
    expect((await soonTooSlow(`${settleHead('', 100)}{"a"`)).status).toBe(408);
  });
});

describe('Expect: 100-continue', () => {
  const body = JSON.stringify(validSettlement());

  test('the body is asked for when the headers are fine', async () => {
    const socket = await open();
    const answers: string[] = [];
    socket.on('data', (chunk) => answers.push(chunk.toString()));
    socket.write(settleHead('Expect: 100-continue\r\nConnection: close\r\n', body.length));
    await once(socket, 'data');
    expect(answers[0]).toBe('HTTP/1.1 100 Continue\r\n\r\n');
    socket.write(body);
    await once(socket, 'close');
    expect(answers[1]).toMatch(/^HTTP\/1.1 200 OK/);
  });

  test('and not asked for when they are not', async () => {
    const socket = await open();
    socket.write(settleHead('Expect: 100-continue\r\n', 5_000_000));
    const [bytes] = (await once(socket, 'data')) as [Buffer];
    socket.destroy();
    const { status, headers, body: refusal } = parseAnswer(bytes.toString());
    expect([status, headers.get('connection'), refusal.error_code]).toEqual([
      413,
      'close',
      'payload_too_large',
    ]);
  });

  test('another expectation is ignored', async () => {
    const answer = await exchange(
      `${settleHead('Expect: fireworks\r\nConnection: close\r\n', body.length)}${body}`,
    );
    expect(answer.status).toBe(200);
  });
});

describe('a body that is sent although it was refused', () => {
  const body = JSON.stringify(validSettlement());
  test.each([
    ['by a client that asks for 100 Continue and does not wait', 'Expect: 100-continue\r\n', 0],
    ['on a connection that ends with the answer', 'Connection: close\r\n', 20],
  ])('%s: the answer is there, and nothing is reset', async (_whose, header, sent) => {
    const socket = await open();
    const errors: unknown[] = [];
    socket.on('error', (error) => errors.push(error));
    const closed = new Promise((resolve) => socket.once('close', resolve));
    const head = settleHead(header, body.length).replace(/Bearer \S+/, 'Bearer unknown');
    socket.write(head + body.slice(0, sent));
    const [answer] = (await once(socket, 'data')) as [Buffer];
    // A server that had closed its side would have done so by now.
    await fetch(`${world.baseUrl}/health/live`);
    expect(socket.closed || socket.readableEnded).toBe(false);
    socket.write(body.slice(sent));
    await closed;
    expect(parseAnswer(answer.toString())).toMatchObject({ status: 401 });
    expect(errors).toEqual([]);
  });
});

describe('an answer that is not read', () => {
  const served = async (
    app: (req: IncomingMessage, res: ServerResponse) => void,
  ): Promise<{ readonly socket: Socket; readonly end: () => Promise<void> }> => {
    const limits = { ...DEFAULT_LIMITS, unreadTimeoutMs: 200 };
    const http = createHttpServer(app, new TokenBucketLimiter(), limits);
    const { port } = await http.listen(0, '127.0.0.1');
    const socket = await open(port);
    socket.on('error', () => undefined).write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    const end = (): Promise<void> => (socket.destroy(), http.close(0));
    return { socket, end };
  };

  test('is cut, and holds nothing any more', async () => {
    const { promise: closed, resolve: cut } = Promise.withResolvers<ServerResponse>();
    const { socket, end } = await served((_req, res) => {
      res.once('close', () => cut(res)).end(Buffer.alloc(64 * 1_048_576));
    });
    socket.pause();
    expect((await closed).writableFinished).toBe(false);
    await end();
  });

  test('is none while it is being made, however long that takes', async () => {
    const { socket, end } = await served((_req, res) => {
      setTimeout(() => res.end('at last'), 700);
    });
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1.1 200 OK[^]*at last$/);
    await end();
  });
});

test('a connection on which nothing is asked for any more is closed', async () => {
  const limits = { ...DEFAULT_LIMITS, keepAliveTimeoutMs: 50 };
  const http = createHttpServer((_req, res) => res.end(), new TokenBucketLimiter(), limits);
  const socket = await open((await http.listen(0, '127.0.0.1')).port);
  socket.resume().write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  await once(socket, 'close');
  await http.close(0);
});

describe('closing', () => {
  test('lets a request in flight finish, ends idle connections and accepts nothing new', async () => {
    const closing = await HttpWorld.start();
    const { settle: settleInstallment } = closing.behaviour.loans;
    let entered: () => void = () => undefined;
    let release: () => void = () => undefined;
    const inside = new Promise<void>((resolve) => (entered = resolve));
    const gate = new Promise<void>((resolve) => (release = resolve));
    closing.behaviour.loans.settle = async (context, input) => {
      entered();
      await gate;
      return settleInstallment(context, input);
    };
    const idle = await open(closing.port);
    const answer = closing.call('POST', '/installment/settle', { json: validSettlement() });
    await inside;
    const closed = closing.http.close(10_000);
    await once(idle, 'close');
    await expect(open(closing.port)).rejects.toThrow();
    release();
    const { status, headers } = await answer;
    expect([status, headers.get('connection')]).toEqual([200, 'close']);
    await closed;
    await closing.stop();
  });

  test('answers a request that had arrived and that a busy process had no time to read', async () => {
    const closing = await HttpWorld.start();
    const accepted = once(closing.http.server, 'connection');
    const socket = await open(closing.port);
    await accepted;
    let answer = '';
    socket.on('data', (chunk) => (answer += chunk.toString()));
    socket.on('error', (error) => (answer = error.message));
    socket.write('GET /openapi.json HTTP/1.1\r\nhost: localhost\r\n\r\n');
    const ended = once(socket, 'close');
    const closed = closing.http.close(10_000);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
    await ended;
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    await closed;
    await closing.stop();
  });

  test('cuts what does not finish in time', async () => {
    const closing = await HttpWorld.start();
    let entered: () => void = () => undefined;
    const inside = new Promise<void>((resolve) => (entered = resolve));
    closing.behaviour.loans.settle = () => {
      entered();
      return new Promise<{ replayed: boolean; result: SettlementReceipt }>(() => undefined);
    };
    const answer = closing.call('POST', '/installment/settle', { json: validSettlement() });
    const refused = expect(answer).rejects.toThrow();
    await inside;
    await closing.http.close(50);
    await refused;
    await closing.stop();
  });
});
