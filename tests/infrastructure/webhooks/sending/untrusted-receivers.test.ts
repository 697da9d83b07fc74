import { afterEach, describe, expect, test } from '@jest/globals';
import type { Resolve } from '../../../../infrastructure/webhooks/addresses/address-guard.ts';
import { authority } from '../../../support/certificates.ts';
import type { Leaf } from '../../../support/certificates.ts';
import { selfSigned } from '../../../support/tls-receiver.ts';
import { AttemptWorld, SHORT_MS, failed, late } from '../support/attempt-world.ts';

const DAY_MS = 86_400_000;

const world = await AttemptWorld.open();
afterEach(() => world.closeAll());

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
      () =>
        world.ca.leaf({ names, from: new Date(Date.now() - 9 * DAY_MS), to: new Date(Date.now() - DAY_MS) }),
      /^certificate problem: expired$/,
    ],
    [
      'not valid yet',
      () =>
        world.ca.leaf({ names, from: new Date(Date.now() + DAY_MS), to: new Date(Date.now() + 9 * DAY_MS) }),
      /^certificate problem: not valid yet$/,
    ],
    [
      'for another host',
      () => world.ca.leaf({ names: ['other.example'] }),
      /^certificate problem: issued for another host name$/,
    ],
    [
      'weak',
      async () => ({ ...(await world.ca.leaf({ weak: true })), ciphers: 'DEFAULT@SECLEVEL=0' }),
      /^certificate problem: refused, as one with a key or a signature that is too weak$/,
    ],
  ];

  test.each(cases)('%s gets nothing', async (_name, certificate, error) => {
    const started = await world.receiver(await certificate());
    expect(await world.attempt(started.url)).toEqual(failed('certificate', error));
    expect(started.requests).toEqual([]);
  });

  test('self-signed gets nothing even where the environment tells Node.js not to look', async () => {
    const before = process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
    process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
    try {
      const started = await world.receiver(await selfSigned());
      expect(await world.attempt(started.url)).toEqual(failed('certificate', /self-signed/));
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
    const started = await world.receiver({
      ...world.leaf,
      minVersion,
      maxVersion,
      ciphers: 'DEFAULT@SECLEVEL=0',
    });
    expect(await world.attempt(started.url)).toEqual(failed('tls', /^tls: no common protocol/));
    expect(started.requests).toEqual([]);
  });

  test.each(['TLSv1.2', 'TLSv1.3'] as const)('%s will do', async (version) => {
    const started = await world.receiver({ ...world.leaf, minVersion: version, maxVersion: version });
    expect(await world.attempt(started.url)).toEqual({ kind: 'delivered', status: 200 });
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
    const started = await world.receiver(await world.ca.leaf({ names: ['rebind.example'] }));
    started.answer = (response) => void response.writeHead(200, { connection: 'close' }).end();
    let asked = 0;
    const resolve: Resolve = () => Promise.resolve(v4(++asked === 1 ? '127.0.0.1' : '169.254.169.254'));
    const sender = world.sender({ resolve });
    const url = `https://rebind.example:${started.port}/`;
    expect(await world.attempt(url, sender)).toEqual({ kind: 'delivered', status: 200 });
    expect(asked).toBe(1);
    expect(await world.attempt(url, sender)).toEqual(blocked);
    expect([asked, started.requests.length]).toEqual([2, 1]);
  });

  test('moved is sent to where it is now, although a connection to where it was is still open', async () => {
    const started = await world.receiver(await world.ca.leaf({ names: ['moved.example'] }));
    let address = '127.0.0.1';
    const sender = world.sender({ resolve: () => Promise.resolve(v4('127.0.0.3', address)) });
    const url = `https://moved.example:${started.port}/`;
    for (let i = 0; i < 2; i++)
      expect(await world.attempt(url, sender)).toEqual({ kind: 'delivered', status: 200 });
    expect(started.connections).toBe(1);
    address = '127.0.0.2';
    expect(await world.attempt(url, sender)).toEqual(failed('connection_refused', 'connection refused'));
    expect(started.requests).toHaveLength(2);
  });

  test.each([
    ['one of its addresses inside', v4('93.184.216.34', '10.0.0.7')],
    ['only loopback', v4('127.0.0.1')],
    ['an IPv6 address that hides a private IPv4 one', [{ address: '64:ff9b::a00:7', family: 6 }]],
  ])('has %s gets nothing', async (_name, addresses) => {
    const started = await world.receiver(world.leaf);
    const sender = world.sender({ allowPrivateNetwork: false, resolve: () => Promise.resolve(addresses) });
    expect(await world.attempt(`https://inside.example:${started.port}/`, sender)).toEqual(blocked);
    expect(started.connections).toBe(0);
  });

  test.each([
    'https://127.0.0.1',
    'https://[::1]',
    'https://2130706433',
    'https://0x7f.1',
    'https://localhost',
  ])('is %s gets nothing', async (base) => {
    const started = await world.receiver(world.leaf);
    expect(
      await world.attempt(`${base}:${started.port}/`, world.sender({ allowPrivateNetwork: false })),
    ).toEqual(blocked);
    expect(started.connections).toBe(0);
  });

  test('does not exist fails as such', async () => {
    const outcome = await world.attempt(
      'https://nowhere.example/',
      world.sender({ resolve: missing('ENOTFOUND') }),
    );
    expect(outcome).toEqual(failed('dns', 'dns: the name does not exist'));
  });

  test('has no address fails as such', async () => {
    const outcome = await world.attempt(
      'https://nowhere.example/',
      world.sender({ resolve: () => Promise.resolve([]) }),
    );
    expect(outcome).toEqual(failed('dns', 'dns: the name has no address'));
  });

  test('is never resolved fails when the time is over', async () => {
    const resolve: Resolve = () => new Promise(() => undefined);
    const outcome = await world.attempt('https://slow.example/', world.sender({ resolve }), SHORT_MS);
    expect(outcome).toEqual(late('resolving the name'));
  });
});
