import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import { acceptingUseCases, tokenFor } from '../../../support/http-fakes.ts';
import { validSettlement } from '../../../support/http-requests.ts';
import { HttpWorld } from '../../../support/http-world.ts';

const world = await HttpWorld.start();
afterAll(() => world.stop());

interface RawAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** Every answer on one connection, which is closed by the last request or by the server. */
const exchange = async (bytes: string): Promise<readonly RawAnswer[]> => {
  const socket = connect(world.port, '127.0.0.1');
  await once(socket, 'connect');
  let text = '';
  socket.on('data', (chunk) => (text += chunk.toString('latin1'))).on('error', () => undefined);
  socket.write(bytes, 'latin1');
  await once(socket, 'close');
  const answers: RawAnswer[] = [];
  while (text !== '') {
    const end = text.indexOf('\r\n\r\n');
    const [line = '', ...fields] = text.slice(0, end).split('\r\n');
    const headers = new Headers(fields.map((field) => field.split(/: (.*)/s, 2) as [string, string]));
    const length = Number(headers.get('content-length') ?? 0);
    answers.push({
      status: Number(line.split(' ')[1]),
      headers,
      text: text.slice(end + 4, end + 4 + length),
    });
    text = text.slice(end + 4 + length);
  }
  return answers;
};

const AUTH = `Authorization: Bearer ${tokenFor('client-a')}\r\n`;
const get = (target: string, headers = `Host: x\r\n${AUTH}`, method = 'GET'): string =>
  `${method} ${target} HTTP/1.1\r\n${headers}Connection: close\r\n\r\n`;
const settle = (headers: string): string => {
  const body = JSON.stringify(validSettlement());
  return `POST /installment/settle HTTP/1.1\r\nHost: x\r\n${AUTH}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n${headers}Connection: close\r\n\r\n${body}`;
};

const expectRefused = ([answer]: readonly RawAnswer[]): void => {
  expect(answer).toBeDefined();
  const { status, headers, text } = answer!;
  expect([status, headers.get('content-type')]).toEqual([400, 'application/json; charset=utf-8']);
  expect(JSON.parse(text)).toMatchObject({
    error_code: 'invalid_request',
    message: expect.any(String),
    request_id: headers.get('x-request-id'),
  });
  expect(headers.get('x-ratelimit-limit')).toBe('1200');
  expect(headers.get('x-svc-api-version')).toBe(world.description.document['info'].version);
};

describe('a request whose address is not well formed is 400', () => {
  const hosts = (...values: readonly string[]): string =>
    values.map((value) => `Host: ${value}\r\n`).join('') + AUTH;
  test.each([
    ['an absolute target that is none', get('http://[::/x')],
    ['an absolute target without a host', get('http:///loan')],
    ['an absolute target with user information', get('http://user:pass@x/loan')],
    ['an absolute target of another scheme', get('ftp://x/loan')],
    ['an absolute target with an impossible port', get('http://x:99999/loan')],
    ['the asterisk of another method than OPTIONS', get('*')],
    ['the form of CONNECT in another method', get('x:443')],
    ['CONNECT', get('x:443', 'Host: x:443\r\n', 'CONNECT')],
    ['no path at all', get('loan')],
    ['a path with a fragment', get('/loan#x')],
    ['a query with a fragment', get('/loan?limit=1#x')],
    ['an escape that is none', get('/loan/%zz')],
    ['an escape that is cut off', get('/loan/%')],
    ['bytes that are no UTF-8', get('/loan/%ff')],
    ['two hosts', get('/loan', hosts('x', 'y'))],
    ['one host twice', get('/loan', hosts('x', 'x'))],
    ['an empty host', get('/loan', hosts(''))],
    ['a host with user information', get('/loan', hosts('user@x'))],
    ['a host with a path', get('/loan', hosts('x/loan'))],
    ['a host that is half an address', get('/loan', hosts('[::'))],
    ['two hosts where nothing is served', get('/nowhere', hosts('x', 'y'))],
    ['two hosts and no token', get('/loan', 'Host: x\r\nHost: y\r\n')],
    ['no host where nothing is served', get('/nowhere', AUTH)],
    ['two tokens', get('/loan', `Host: x\r\n${AUTH}${AUTH}`)],
    ['two types', settle('Content-Type: text/plain\r\n')],
    ['two lengths', settle('Content-Length: 3\r\n')],
    ['a version of HTTP to come', get('/loan').replace('HTTP/1.1', 'HTTP/2.0')],
    ['the first line of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ])('%s', async (_what, bytes) => {
    expectRefused(await exchange(bytes));
  });

  test('and is counted by the address', async () => {
    const remaining = async (): Promise<number> => {
      const [answer] = await exchange(get('http://[::/x'));
      return Number(answer!.headers.get('x-ratelimit-remaining'));
    };
    const before = await remaining();
    expect(await remaining()).toBe(before - 1);
    const [other] = await exchange(get('/loan', `Host: x\r\nHost: y\r\n${AUTH}`));
    expect(Number(other!.headers.get('x-ratelimit-remaining'))).toBe(before - 2);
  });
});

describe('unusual and well formed', () => {
  const HOSTS = ['x', 'api.example.com:443', '127.0.0.1:3000', '[::1]:3000', 'a_b.local', 'x:'];
  test.each(HOSTS)('the host %s', async (host) => {
    const [answer] = await exchange(get('/loan', `Host: ${host}\r\n${AUTH}`));
    expect(answer!.status).toBe(200);
  });

  test.each(['http://x/loan?limit=1', 'HTTP://x:80/loan', 'https://[::1]/loan'])(
    'the target %s',
    async (target) => {
      expect((await exchange(get(target)))[0]!.status).toBe(200);
    },
  );

  test('an address without a path is the root', async () => {
    expect((await exchange(get('http://x')))[0]!.status).toBe((await exchange(get('/')))[0]!.status);
  });

  test('OPTIONS * names every method', async () => {
    const [answer] = await exchange(get('*', 'Host: x\r\n', 'OPTIONS'));
    expect([answer!.status, answer!.headers.get('allow')]).toEqual([
      204,
      'DELETE, GET, HEAD, OPTIONS, PATCH, POST',
    ]);
  });

  test('an offer to change the protocol is not taken up', async () => {
    const upgrade = `Host: x\r\n${AUTH}Upgrade: websocket\r\nConnection: Upgrade\r\n`;
    expect((await exchange(get('/loan', upgrade)))[0]!.status).toBe(200);
  });

  test.each([
    ['chunked', 200],
    ['Chunked', 200],
    ['gzip, chunked', 415],
  ])('a body that is transferred as %s is %i', async (coding, status) => {
    const [head = '', body = ''] = settle(`Transfer-Encoding: ${coding}\r\n`)
      .replace(/Content-Length.*\r\n/, '')
      .split('\r\n\r\n');
    const chunks = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
    expect((await exchange(`${head}\r\n\r\n${chunks}`))[0]!.status).toBe(status);
  });

  test('HTTP/1.0 without a host', async () => {
    const [answer] = await exchange(`GET /loan HTTP/1.0\r\n${AUTH}\r\n`);
    expect(answer!.status).toBe(200);
  });
});

describe('requests that are sent ahead on one connection', () => {
  test('are carried out one after the other, and answered in their order', async () => {
    let [under, most] = [0, 0];
    const order: string[] = [];
    world.behaviour.loans.read = async (_context, code) => {
      most = Math.max(most, ++under);
      order.push(code);
      await new Promise((resolve) => setImmediate(resolve));
      under -= 1;
      return undefined;
    };
    const one = (n: number, more = ''): string =>
      `GET /loan/OP-${n} HTTP/1.1\r\nHost: x\r\n${AUTH}${more}\r\n`;
    const numbers = Array.from({ length: 100 }, (_, n) => n);
    const answers = await exchange(
      numbers.map((n) => one(n, n === 99 ? 'Connection: close\r\n' : '')).join(''),
    );
    expect([most, order]).toEqual([1, numbers.map((n) => `OP-${n}`)]);
    expect(answers.map(({ status }) => status)).toEqual(numbers.map(() => 404));
  });

  describe('of settlements', () => {
    let settled = 0;
    const { settle: settleInstallment } = acceptingUseCases().loans;
    beforeEach(() => {
      settled = 0;
      world.behaviour.loans.settle = async (...args) => {
        settled += 1;
        await new Promise((resolve) => setImmediate(resolve));
        return settleInstallment(...args);
      };
    });
    const open = (text: string): string => text.replace('Connection: close\r\n', '');

    test('are not begun behind the last one', async () => {
      expect(await exchange(settle('') + settle(''))).toHaveLength(1);
      expect(settled).toBe(1);
    });

    test.each([
      ['is no request', '\0\0\r\n\r\n', 400],
      ['has headers that are too large', get('/loan', `Host: x\r\nX-Big: ${'x'.repeat(20_000)}\r\n`), 431],
      [
        'breaks off in its body',
        settle('Transfer-Encoding: chunked\r\n').replace(/Content-Length.*\r\n/, ''),
        400,
      ],
    ])('are answered before what %s', async (_what, bytes, status) => {
      const answers = await exchange(open(settle('')) + open(settle('')) + bytes);
      expect(answers.map((answer) => answer.status)).toEqual([200, 200, status]);
      expect(settled).toBe(2);
    });
  });

  test('what cannot be read is answered however much follows', async () => {
    const answers = await exchange(get('/loan', `Host: x\r\nX-Big: ${'x'.repeat(8_000_000)}\r\n`));
    expect(answers.map(({ status }) => status)).toEqual([431]);
  });
});
