import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { DnsAddressGuard } from '../../../../infrastructure/webhooks/addresses/address-guard.ts';
import type { Resolve } from '../../../../infrastructure/webhooks/addresses/address-guard.ts';
import { parseWebhookUrl } from '../../../../infrastructure/webhooks/addresses/webhook-url.ts';

const PUBLIC = [{ address: '93.184.216.34', family: 4 }];
const nowhere: Resolve = () => Promise.reject(Object.assign(new Error('not found'), { code: 'ENOTFOUND' }));
const to =
  (...addresses: string[]): Resolve =>
  () =>
    Promise.resolve(addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })));
const guard = (resolve: Resolve = to('93.184.216.34'), allowPrivateNetwork = false) =>
  new DnsAddressGuard({ allowPrivateNetwork, resolve });

const refusal = { name: 'DomainError', code: 'invalid_webhook_url' };

describe('registration takes', () => {
  test.each([
    'https://receiver.example/hooks',
    'https://receiver.example',
    'HTTPS://Receiver.Example:8443/a/b?token=x%20y&z=1',
    'https://xn--caf-dma.example/',
    'https://café.example/ü',
    'https://93.184.216.34/',
    'https://[2606:2800:220:1:248:1893:25c8:1946]:444/',
  ])('%s', (url) => expect(guard().check(url)).resolves.toBeUndefined());

  test('a name that does not resolve now: it is checked at each sending', () =>
    expect(guard(nowhere).check('https://later.example/')).resolves.toBeUndefined());

  test('a name inside, where private networks are allowed', () =>
    expect(guard(to('127.0.0.1'), true).check('https://localhost:4433/x')).resolves.toBeUndefined());
});

describe('registration refuses', () => {
  test.each([
    ['no URL', 'not a url'],
    ['nothing', ''],
    ['a relative one', '/hooks'],
    ['http', 'http://example.com/x'],
    ['ftp', 'ftp://example.com'],
    ['javascript', 'javascript:alert(1)'],
    ['a missing authority', 'https:example.com'],
    ['one slash', 'https:/example.com'],
    ['backslashes', 'https:\\\\example.com\\x'],
    ['user and password', 'https://user:pw@example.com/'],
    ['a user', 'https://user@example.com/'],
    ['an empty user', 'https://@example.com/'],
    ['a user that looks like a host', 'https://example.com@10.0.0.1/'],
    ['a fragment', 'https://example.com/#top'],
    ['an empty fragment', 'https://example.com/#'],
    ['spaces around', ' https://example.com/'],
    ['a line break inside', 'https://exam\nple.com/'],
    ['a tab inside', 'https://exam\tple.com/'],
    ['an impossible port', 'https://example.com:99999/'],
    ['an impossible address', 'https://256.256.256.256/'],
    ['an empty host', 'https:///x'],
    ['a host with a space', 'https://exa%20mple.com/'],
    ['too much', `https://example.com/${'x'.repeat(2048)}`],
  ])('%s', (_name, url) => expect(guard().check(url)).rejects.toMatchObject(refusal));

  test.each([
    '127.0.0.1',
    '127.1',
    '2130706433',
    '0x7f000001',
    '0x7f.1',
    '017700000001',
    '127.0.0.1.',
    '0',
    '10.0.0.8',
    '169.254.169.254',
    '0xa9fea9fe',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[64:ff9b::7f00:1]',
    '[2002:7f00:1::]',
    '[fe80::1]',
    '[fd00:ec2::254]',
    'localhost',
    'LOCALHOST',
    'localhost.',
    'api.localhost',
    'ｌｏｃａｌｈｏｓｔ',
    '１２７.０.０.１',
    '127。0。0。1',
  ])('https://%s/', (host) =>
    expect(guard(nowhere).check(`https://${host}/`)).rejects.toMatchObject(refusal),
  );

  test.each([
    ['inside', ['10.0.0.1']],
    ['inside in one answer of several', ['93.184.216.34', '192.168.0.1']],
    ['inside in IPv6 only', ['93.184.216.34', 'fd00::1']],
  ])('a name that resolves to an address %s', (_name, addresses) =>
    expect(guard(to(...addresses)).check('https://inside.example/')).rejects.toMatchObject(refusal),
  );

  test('IPv4 in every notation that URLs know', async () => {
    const notations: readonly ((value: number) => string)[] = [
      (value) => String(value),
      (value) => `0x${value.toString(16)}`,
      (value) => `0${value.toString(8)}`,
      (value) => `${value >>> 24}.${value & 0xffffff}`,
      (value) => `${value >>> 24}.${(value >>> 16) & 255}.${value & 0xffff}`,
      (value) => [24, 16, 8, 0].map((shift) => `0x${((value >>> shift) & 255).toString(16)}`).join('.'),
      (value) => [24, 16, 8, 0].map((shift) => `0${((value >>> shift) & 255).toString(8)}`).join('.'),
    ];
    const privateAddress = fc
      .tuple(fc.constantFrom(0x0a000000, 0x7f000000, 0xc0a80000, 0xa9fe0000), fc.nat(0xffff))
      .map(([network, host]) => network + host);
    const property = fc.asyncProperty(
      privateAddress,
      fc.constantFrom(...notations),
      async (value, notation) => {
        await expect(guard(nowhere).check(`https://${notation(value)}/`)).rejects.toMatchObject(refusal);
      },
    );
    await fc.assert(property, { numRuns: 300 });
  });

  test('without saying where a name leads', async () => {
    const refused = guard(to('10.11.12.13')).check('https://inside.example/');
    await expect(refused).rejects.toThrow(expect.not.stringContaining('10.11'));
  });
});

describe('connections get', () => {
  const look = (one: DnsAddressGuard, options: { all?: boolean; family?: number }) =>
    new Promise((resolve) => one.lookup('some.example', options, (...answer) => resolve(answer)));

  test('every checked address, or the first, as they ask', async () => {
    const one = guard(to('93.184.216.34', '2606:2800:220:1::1'));
    expect(await look(one, { all: true })).toEqual([
      null,
      [
        { address: '93.184.216.34', family: 4 },
        { address: '2606:2800:220:1::1', family: 6 },
      ],
    ]);
    expect(await look(one, {})).toEqual([null, '93.184.216.34', 4]);
    expect(await look(one, { family: 6 })).toEqual([null, '2606:2800:220:1::1', 6]);
  });

  test('nothing when one of the addresses is not allowed, or none is there', async () => {
    const code = (text: string) => [expect.objectContaining({ code: text }), '', 0];
    expect(await look(guard(to('93.184.216.34', '::1')), { all: true })).toEqual(code('BLOCKED_ADDRESS'));
    expect(await look(guard(to()), { all: true })).toEqual(code('ENODATA'));
    expect(await look(guard(nowhere), { all: true })).toEqual(code('ENOTFOUND'));
    expect(await look(guard(), { family: 6 })).toEqual(code('ENODATA'));
  });

  test('one answer for all that ask for a name at the same time, and a new one later', async () => {
    let asked = 0;
    const one = guard(() => {
      asked += 1;
      return Promise.resolve(PUBLIC);
    });
    await Promise.all([look(one, {}), look(one, {}), look(one, {})]);
    expect(asked).toBe(1);
    await look(one, {});
    expect(asked).toBe(2);
  });
});

test('an address is taken apart into where to connect and what to ask for', () => {
  expect(parseWebhookUrl('https://Receiver.example:8443/a b'.replace(' ', '%20'))).toEqual({
    origin: 'https://receiver.example:8443',
    host: 'receiver.example:8443',
    hostname: 'receiver.example',
    isLiteral: false,
    path: '/a%20b',
  });
  expect(parseWebhookUrl('https://[2001:DB8::1]?x=1')).toMatchObject({
    hostname: '2001:db8::1',
    isLiteral: true,
    path: '/?x=1',
  });
});
