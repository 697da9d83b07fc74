import { createSecretKey } from 'node:crypto';
import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { once } from 'node:events';
import { afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { DnsAddressGuard } from '../../../../infrastructure/webhooks/addresses/address-guard.ts';
import type { Resolve } from '../../../../infrastructure/webhooks/addresses/address-guard.ts';
import type { AttemptOutcome } from '../../../../infrastructure/webhooks/sending/attempt-outcome.ts';
import { HttpsSender } from '../../../../infrastructure/webhooks/sending/https-sender.ts';
import { webhookTrust } from '../../../../infrastructure/webhooks/sending/trust.ts';
import { authority } from '../../../support/certificates.ts';
import type { Authority, Leaf } from '../../../support/certificates.ts';
import { TlsReceiver } from '../../../support/tls-receiver.ts';
import type { Answer } from '../../../support/tls-receiver.ts';
import { selfSigned } from '../../../support/tls-self-signed.ts';

/** For those that use up all the time they are given. */
const SHORT_MS = 250;
/** For all others: on a busy machine a handshake may take a while. */
const LONG_MS = 8_000;
const GRACE_MS = 2_000;
const DAY_MS = 86_400_000;

let ca: Authority;
let leaf: Leaf;
const closing: (() => Promise<void> | void)[] = [];

beforeAll(async () => {
  ca = await authority();
  leaf = await ca.leaf();
});
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

interface Attempt {
  readonly resolve?: Resolve;
  readonly allowPrivateNetwork?: boolean;
}

const newSender = ({ resolve, allowPrivateNetwork = true }: Attempt = {}): HttpsSender => {
  const guard = new DnsAddressGuard({ allowPrivateNetwork, ...(resolve && { resolve }) });
  const sender = new HttpsSender({
    guard,
    trust: webhookTrust(ca.caPem),
    timeoutMs: LONG_MS,
    now: Date.now,
  });
  closing.push(() => sender.close());
  return sender;
};

const attempt = async (url: string, sender = newSender(), timeoutMs = LONG_MS): Promise<AttemptOutcome> => {
  const startedAt = performance.now();
  const key = createSecretKey(Buffer.from('secret'));
  const outcome = await sender.send(
    { url, event: 'loan_received', eventId: 'id', body: '{}', attempt: 1, key },
    timeoutMs,
  );
  expect(performance.now() - startedAt).toBeLessThan(timeoutMs + GRACE_MS);
  return outcome;
};

const receiver = async (
  options: Parameters<typeof TlsReceiver.start>[0],
  behave?: Answer,
): Promise<TlsReceiver> => {
  const started = await TlsReceiver.start(options);
  if (behave) started.answer = behave;
  closing.push(() => started.close());
  return started;
};

const tcpReceiver = async (onConnection: (socket: Socket) => void): Promise<TlsReceiver> => {
  const started = await TlsReceiver.startTcp(onConnection);
  closing.push(() => started.close());
  return started;
};

const failed = (reason: string, error: string | RegExp, status: number | null = null) => ({
  kind: 'failed',
  status,
  reason,
  error: typeof error === 'string' ? error : expect.stringMatching(error),
});
const late = (phase: string, status: number | null = null) =>
  failed('timeout', `timeout: no complete answer within ${SHORT_MS} ms (${phase})`, status);

describe('a receiver that', () => {
  const drip = (write: () => boolean): NodeJS.Timeout => setInterval(write, 20);
  const big = Buffer.alloc(1024 * 1024);
  const behaviours: readonly [string, Answer, ReturnType<typeof failed>][] = [
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
      late('reading the answer', 200),
    ],
    [
      'answers 100 MB',
      (response) => {
        response.writeHead(200, { 'content-length': String(100 * big.length) });
        const pour = (): void => {
          while (!response.destroyed && response.write(big));
        };
        response.on('drain', pour);
        pour();
      },
      failed('answer_too_large', 'the answer is larger than 64 KiB', 200),
    ],
    [
      'closes in the middle of its answer',
      (response, _request, socket) => {
        response.writeHead(200, { 'content-length': '1000' });
        response.write('half', () => socket.destroy());
      },
      failed('connection_lost', 'the connection was closed before the answer was complete', 200),
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
      'does not speak HTTP',
      (_response, _request, socket) => void socket.end('SMTP ready\r\n'),
      failed('invalid_answer', /^invalid answer/),
    ],
    [
      'sends provisional answers for ever',
      (_response, _request, socket) => {
        const timer = drip(() => socket.write('HTTP/1.1 102 Processing\r\n\r\n'));
        socket.on('close', () => clearInterval(timer));
      },
      late('waiting for the answer'),
    ],
  ];

  test.each(behaviours)('%s fails within its time, with the reason', async (_name, behave, expected) => {
    const { url } = await receiver(leaf, behave);
    const timeoutMs = expected.reason === 'timeout' ? SHORT_MS : LONG_MS;
    expect(await attempt(url, newSender(), timeoutMs)).toEqual(expected);
  });

  test('closes before it answers fails at once', async () => {
    const { url } = await receiver(leaf, (_response, _request, socket) => socket.destroy());
    const outcome = await attempt(url);
    expect(outcome).toEqual(
      failed('connection_lost', 'the connection was closed before the answer was complete'),
    );
  });

  test('never shakes hands gets no request, even when it wakes up later', async () => {
    const sleeping: Socket[] = [];
    const { url } = await tcpReceiver((socket) => void sleeping.push(socket));
    expect(await attempt(url, newSender(), SHORT_MS)).toEqual(late('connecting'));
    expect(sleeping).toHaveLength(1);
    if (!sleeping[0]!.destroyed) await once(sleeping[0]!.resume(), 'close');
  });

  test('hangs up during the handshake fails', async () => {
    const { url } = await tcpReceiver((socket) => socket.destroy());
    expect(await attempt(url)).toEqual(failed('connection_lost', /closed/));
  });

  test('is not there is refused', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    server.close();
    expect(await attempt(`https://localhost:${port}/`)).toEqual(
      failed('connection_refused', 'connection refused'),
    );
  });
});

describe('a certificate that is', () => {
  const names = ['localhost'];
  const cases: readonly [string, () => Promise<Leaf>, RegExp][] = [
    ['self-signed', selfSigned, /^certificate problem: self-signed$/],
    [
      'issued by a stranger',
      async () => (await authority()).leaf(),
      /^certificate problem: issued by an authority/,
    ],
    [
      'expired',
      () => ca.leaf({ names, from: new Date(Date.now() - 9 * DAY_MS), to: new Date(Date.now() - DAY_MS) }),
      /^certificate problem: expired$/,
    ],
    [
      'not valid yet',
      () => ca.leaf({ names, from: new Date(Date.now() + DAY_MS), to: new Date(Date.now() + 9 * DAY_MS) }),
      /^certificate problem: not valid yet$/,
    ],
    [
      'for another host',
      () => ca.leaf({ names: ['other.example'] }),
      /^certificate problem: issued for another host name$/,
    ],
  ];

  test.each(cases)('%s gets nothing', async (_name, certificate, error) => {
    const started = await receiver(await certificate());
    expect(await attempt(started.url)).toEqual(failed('certificate', error));
    expect(started.requests).toEqual([]);
  });

  test('self-signed gets nothing even where the environment tells Node.js not to look', async () => {
    const before = process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
    process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
    try {
      const started = await receiver(await selfSigned());
      expect(await attempt(started.url)).toEqual(failed('certificate', /self-signed/));
      expect(started.requests).toEqual([]);
    } finally {
      if (before === undefined) delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
      else process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = before;
    }
  });
});

describe('TLS', () => {
  test.each([
    ['TLSv1', 'TLSv1.1'],
    ['TLSv1.1', 'TLSv1.1'],
  ] as const)('from %s to %s is too old', async (minVersion, maxVersion) => {
    const started = await receiver({ ...leaf, minVersion, maxVersion, ciphers: 'DEFAULT@SECLEVEL=0' });
    expect(await attempt(started.url)).toEqual(failed('tls', /^tls: no common protocol/));
    expect(started.requests).toEqual([]);
  });

  test.each(['TLSv1.2', 'TLSv1.3'] as const)('%s will do', async (version) => {
    const started = await receiver({ ...leaf, minVersion: version, maxVersion: version });
    expect(await attempt(started.url)).toEqual({ kind: 'delivered', status: 200 });
  });
});

describe('a name that', () => {
  const blocked = failed('blocked_address', 'blocked address: the host is not globally routable');
  const v4 = (...addresses: string[]) => addresses.map((address) => ({ address, family: 4 }));
  const missing =
    (code: string): Resolve =>
    () =>
      Promise.reject(Object.assign(new Error(code), { code }));

  test('changes its answer after the check is connected to where it was checked, and not again', async () => {
    const started = await receiver(await ca.leaf({ names: ['rebind.example'] }));
    started.answer = (response) => void response.writeHead(200, { connection: 'close' }).end();
    let asked = 0;
    const resolve: Resolve = () => Promise.resolve(v4(++asked === 1 ? '127.0.0.1' : '169.254.169.254'));
    const sender = newSender({ resolve });
    const url = `https://rebind.example:${started.port}/`;
    expect(await attempt(url, sender)).toEqual({ kind: 'delivered', status: 200 });
    expect(asked).toBe(1);
    expect(await attempt(url, sender)).toEqual(blocked);
    expect([asked, started.requests.length]).toEqual([2, 1]);
  });

  test.each([
    ['one of its addresses inside', v4('93.184.216.34', '10.0.0.7')],
    ['only loopback', v4('127.0.0.1')],
    ['an IPv6 address that hides a private IPv4 one', [{ address: '64:ff9b::a00:7', family: 6 }]],
  ])('has %s gets nothing', async (_name, addresses) => {
    const started = await receiver(leaf);
    const sender = newSender({ allowPrivateNetwork: false, resolve: () => Promise.resolve(addresses) });
    expect(await attempt(`https://inside.example:${started.port}/`, sender)).toEqual(blocked);
    expect(started.connections).toBe(0);
  });

  test.each([
    'https://127.0.0.1',
    'https://[::1]',
    'https://2130706433',
    'https://0x7f.1',
    'https://localhost',
  ])('is %s gets nothing', async (base) => {
    const started = await receiver(leaf);
    expect(await attempt(`${base}:${started.port}/`, newSender({ allowPrivateNetwork: false }))).toEqual(
      blocked,
    );
    expect(started.connections).toBe(0);
  });

  test('does not exist fails as such', async () => {
    const outcome = await attempt('https://nowhere.example/', newSender({ resolve: missing('ENOTFOUND') }));
    expect(outcome).toEqual(failed('dns', 'dns: the name does not exist'));
  });

  test('has no address fails as such', async () => {
    const outcome = await attempt(
      'https://nowhere.example/',
      newSender({ resolve: () => Promise.resolve([]) }),
    );
    expect(outcome).toEqual(failed('dns', 'dns: the name has no address'));
  });

  test('is never resolved fails when the time is over', async () => {
    const resolve: Resolve = () => new Promise(() => undefined);
    const outcome = await attempt('https://slow.example/', newSender({ resolve }), SHORT_MS);
    expect(outcome).toEqual(late('connecting'));
  });
});
