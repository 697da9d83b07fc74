import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  DnsAddressGuard,
  parseWebhookUrl,
} from '../../../../infrastructure/webhooks/addresses/address-guard.ts';
import type { Resolve } from '../../../../infrastructure/webhooks/addresses/address-guard.ts';

const nowhere: Resolve = () => Promise.reject(Object.assign(new Error('not found'), { code: 'ENOTFOUND' }));
const unasked: Resolve = () => {
  throw new Error('a name server was asked');
};
const to =
  (...addresses: string[]): Resolve =>
  () =>
    Promise.resolve(addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })));
const guard = (resolve: Resolve = to('93.184.216.34'), allowPrivateNetwork = false) =>
  new DnsAddressGuard({ allowPrivateNetwork, resolve });

const refusal = {
  name: 'DomainError',
  code: 'invalid_webhook_url',
  details: [{ field: 'url', code: 'invalid_webhook_url' }],
};
const refusedBy = (one: DnsAddressGuard, url: string): unknown => {
  try {
    one.check(url);
    return undefined;
  } catch (error) {
    return error;
  }
};

describe('registration takes', () => {
  test.each([
    'https://receiver.example/hooks',
    'https://receiver.example',
    'HTTPS://Receiver.Example:8443/a/b?token=x%20y&z=1',
    'https://xn--caf-dma.example/',
    'https://café.example/ü',
    'https://93.184.216.34/',
    'https://[2606:2800:220:1:248:1893:25c8:1946]:444/',
  ])('%s', (url) => expect(() => guard().check(url)).not.toThrow());

  test('a name inside, where private networks are allowed', () => {
    expect(() => guard(unasked, true).check('https://localhost:4433/x')).not.toThrow();
    expect(() => guard(unasked, true).check('https://receiver.internal/')).not.toThrow();
  });

  test('any other name, and asks nobody what it stands for: that would tell who registers it', () => {
    expect(() => guard(unasked).check('https://inside.example/')).not.toThrow();
  });
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
    ['port 0', 'https://example.com:0/'],
    ['port 0, written longer', 'https://example.com:000'],
    ['an impossible address', 'https://256.256.256.256/'],
    ['an empty host', 'https:///x'],
    ['a host with a space', 'https://exa%20mple.com/'],
    ['too much', `https://example.com/${'x'.repeat(2048)}`],
  ])('%s', (_name, url) => expect(refusedBy(guard(unasked), url)).toMatchObject(refusal));

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
    'printer.local',
    'metadata.google.internal',
    'router.home.arpa',
    'nowhere.invalid',
    'ｌｏｃａｌｈｏｓｔ',
    '１２７.０.０.１',
    '127。0。0。1',
  ])('https://%s/', (host) => expect(refusedBy(guard(unasked), `https://${host}/`)).toMatchObject(refusal));

  test('IPv4 in every notation that URLs know', () => {
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
    const property = fc.property(privateAddress, fc.constantFrom(...notations), (value, notation) => {
      expect(refusedBy(guard(unasked), `https://${notation(value)}/`)).toMatchObject(refusal);
    });
    fc.assert(property, { numRuns: 300 });
  });

  test('with the way to allow it, where there is one', () => {
    const open = new DnsAddressGuard({ allowPrivateNetwork: false, resolve: unasked, hint: 'set THIS' });
    expect(refusedBy(open, 'https://localhost/')).toMatchObject({
      message: 'url: the host must be reachable from the public internet (set THIS)',
    });
  });
});

describe('a sending gets', () => {
  const V6 = '2606:2800:220:1::1';

  test('every checked address of a name', async () => {
    expect(await guard(to('93.184.216.34', V6)).addressesOf('some.example', 'app')).toEqual([
      { address: '93.184.216.34', family: 4 },
      { address: V6, family: 6 },
    ]);
  });

  test('nothing when one of the addresses is not allowed, or none is there', async () => {
    const asked = (resolve: Resolve) => guard(resolve).addressesOf('some.example', 'app');
    const code = (text: string) => expect.objectContaining({ code: text }) as unknown as Error;
    await expect(asked(to('93.184.216.34', '10.0.0.1'))).rejects.toEqual(code('BLOCKED_ADDRESS'));
    await expect(asked(to('93.184.216.34', 'fd00::1'))).rejects.toEqual(code('BLOCKED_ADDRESS'));
    await expect(asked(to('10.11.12.13'))).rejects.toThrow(expect.not.stringContaining('10.11'));
    await expect(asked(to())).rejects.toEqual(code('ENODATA'));
    await expect(asked(nowhere)).rejects.toEqual(code('ENOTFOUND'));
  });

  test('an answer that is known at once, without a promise', () => {
    const known: Resolve = () => [{ address: '93.184.216.34', family: 4 }];
    expect(guard(known).addressesOf('some.example', 'app')).toHaveLength(1);
    expect(() =>
      guard(() => [{ address: '10.0.0.1', family: 4 }]).addressesOf('some.example', 'app'),
    ).toThrow('not a globally routable address');
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
