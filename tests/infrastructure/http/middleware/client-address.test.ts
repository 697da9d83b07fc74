import type { IncomingMessage } from 'node:http';
import { describe, expect, test } from '@jest/globals';
import { addressKey, clientAddress } from '../../../../infrastructure/http/middleware/request-state.ts';

const requestFrom = (remoteAddress: string, forwarded?: string): IncomingMessage =>
  ({
    socket: { remoteAddress },
    headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded },
  }) as unknown as IncomingMessage;

describe('the address of a client', () => {
  test.each([
    [0, '198.51.100.1, 203.0.113.5', '10.0.0.1'],
    [1, '198.51.100.1, 203.0.113.5', '203.0.113.5'],
    [2, '198.51.100.1, 203.0.113.5', '198.51.100.1'],
    [3, '198.51.100.1, 203.0.113.5', '198.51.100.1'],
    [1, '198.51.100.1, not-an-address', '10.0.0.1'],
    [1, '', '10.0.0.1'],
    [1, ' 2001:db8::1 ', '2001:db8::1'],
    [2, '198.51.100.1:49152, 203.0.113.5:443', '198.51.100.1'],
    [1, '[2001:db8::1]:49152', '2001:db8::1'],
    [1, '[2001:db8::1]', '2001:db8::1'],
    [1, '203.0.113.5:', '10.0.0.1'],
  ])('with %i trusted hops and "%s" is %s', (hops, forwarded, expected) => {
    expect(clientAddress(requestFrom('10.0.0.1', forwarded), hops)).toBe(expected);
  });

  test('without the header is the connection', () => {
    expect(clientAddress(requestFrom('10.0.0.1'), 2)).toBe('10.0.0.1');
  });

  test.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['2001:DB8:0:0:9::', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['unknown', 'unknown'],
  ])('%s counts as %s', (address, key) => {
    expect(addressKey(address)).toBe(key);
  });
});
