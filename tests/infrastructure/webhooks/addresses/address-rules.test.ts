import { BlockList } from 'node:net';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { isAllowedAddress } from '../../../../infrastructure/webhooks/addresses/address-guard.ts';
import { ipv4SpecialPurpose, ipv6SpecialPurpose } from './special-purpose-addresses.ts';
import type { SpecialPurposeBlock } from './special-purpose-addresses.ts';

const strict = { allowPrivateNetwork: false };
const lenient = { allowPrivateNetwork: true };

type Family = 'ipv4' | 'ipv6';
const BITS = { ipv4: 32, ipv6: 128 } as const;

const textOf = (value: bigint, family: Family): string => {
  if (family === 'ipv4') return [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 255n).join('.');
  const groups = Array.from({ length: 8 }, (_, i) =>
    ((value >> BigInt(112 - 16 * i)) & 0xffffn).toString(16),
  );
  return groups.join(':');
};

const numberOf = (text: string): bigint => {
  if (!text.includes(':')) return text.split('.').reduce((sum, part) => (sum << 8n) | BigInt(part), 0n);
  const [head = '', tail] = text.split('::');
  const groups = (part: string): string[] => (part === '' ? [] : part.split(':'));
  const [left, right] = [groups(head), groups(tail ?? '')];
  const zeros = Array<string>(8 - left.length - right.length).fill('0');
  return [...left, ...zeros, ...right].reduce((sum, group) => (sum << 16n) | BigInt(`0x${group}`), 0n);
};

const inBlock = ({ block }: SpecialPurposeBlock, family: Family): fc.Arbitrary<string> => {
  const [base, length] = block.split('/');
  const host = BigInt(BITS[family] - Number(length));
  const start = numberOf(base!);
  const last = start + (1n << host) - 1n;
  return fc
    .oneof(fc.constant(start), fc.constant(last), fc.bigInt({ min: start, max: last }))
    .map((value) => textOf(value, family));
};

const listOf = (blocks: readonly SpecialPurposeBlock[], family: Family): BlockList => {
  const list = new BlockList();
  for (const { block } of blocks) list.addSubnet(block.split('/')[0]!, Number(block.split('/')[1]), family);
  return list;
};

describe('addresses that are not globally reachable', () => {
  const unreachable = (blocks: readonly SpecialPurposeBlock[], family: Family) =>
    blocks.filter(({ globallyReachable }) => !globallyReachable).map((one) => ({ ...one, family }));

  test.each([...unreachable(ipv4SpecialPurpose, 'ipv4'), ...unreachable(ipv6SpecialPurpose, 'ipv6')])(
    '$block ($name) are refused',
    ({ family, ...block }) => {
      fc.assert(
        fc.property(inBlock(block, family), (address) => {
          const mapped = /^[0:]*:0*ffff:/.test(address);
          // A mapped address is judged as the IPv4 address that it is.
          return !isAllowedAddress(address, strict) || mapped;
        }),
        { numRuns: 200 },
      );
    },
  );

  test('everything outside 2000::/3 is refused', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: (1n << 128n) - 1n }), (value) => {
        const [isGlobalUnicast, isMapped] = [value >> 125n === 1n, value >> 32n === 0xffffn];
        return isGlobalUnicast || isMapped || !isAllowedAddress(textOf(value, 'ipv6'), strict);
      }),
    );
  });

  test.each(['168.63.129.16', 'fd00:ec2::254', 'fd20:ce::254', '169.254.169.254'])(
    'the metadata service at %s is refused, private networks allowed or not',
    (address) => {
      expect([isAllowedAddress(address, strict), isAllowedAddress(address, lenient)]).toEqual([false, false]);
    },
  );
});

describe('globally reachable addresses', () => {
  const special4 = listOf(ipv4SpecialPurpose, 'ipv4');
  const special6 = listOf(ipv6SpecialPurpose, 'ipv6');

  test('of IPv4 that no registry sets apart are allowed', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: (1n << 32n) - 1n }), (value) => {
        const address = textOf(value, 'ipv4');
        fc.pre(!special4.check(address, 'ipv4') && address !== '168.63.129.16');
        return isAllowedAddress(address, strict);
      }),
      { numRuns: 1_000 },
    );
  });

  test('of IPv6 that no registry sets apart are allowed, unless they carry a private IPv4 one', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 1n << 125n, max: (1n << 126n) - 1n }), (value) => {
        const address = textOf(value, 'ipv6');
        const isatap = ((value >> 32n) & 0xfdffffffn) === 0x5efen;
        fc.pre(!special6.check(address, 'ipv6') && !isatap);
        return isAllowedAddress(address, strict);
      }),
      { numRuns: 1_000 },
    );
  });

  test.each(['8.8.8.8', '93.184.216.34', '2606:2800:220:1:248:1893:25c8:1946', '2a00:1450:4001:81c::200e'])(
    'such as %s are allowed',
    (address) => expect(isAllowedAddress(address, strict)).toBe(true),
  );
});

describe('IPv4 inside IPv6', () => {
  const ipv4 = fc.bigInt({ min: 0n, max: (1n << 32n) - 1n });
  const prefix64 = fc.bigInt({ min: 0x2600n << 48n, max: (0x2800n << 48n) - 1n });

  test('mapped is judged as IPv4', () => {
    fc.assert(
      fc.property(ipv4, (value) => {
        const plain = isAllowedAddress(textOf(value, 'ipv4'), strict);
        return (
          isAllowedAddress(`::ffff:${textOf(value, 'ipv4')}`, strict) === plain &&
          isAllowedAddress(textOf((0xffffn << 32n) | value, 'ipv6'), strict) === plain
        );
      }),
    );
  });

  test.each([0x5efen, 0x02005efen])('in an ISATAP interface id is judged as well (%i)', (marker) => {
    fc.assert(
      fc.property(prefix64, ipv4, (prefix, value) => {
        const address = textOf((prefix << 64n) | (marker << 32n) | value, 'ipv6');
        return isAllowedAddress(address, strict) === isAllowedAddress(textOf(value, 'ipv4'), strict);
      }),
    );
  });

  test.each([
    ['NAT64', '64:ff9b::'],
    ['local NAT64', '64:ff9b:1::'],
    ['6to4', '2002:'],
    ['Teredo', '2001:0:'],
    ['compatible', '::'],
    ['translated', '::ffff:0:'],
    ['ISATAP on a link', 'fe80::5efe:'],
    ['ISATAP in the zero block', '::5efe:'],
  ])('%s is refused, whatever it embeds', (_name, prefix) => {
    for (const embedded of ['7f00:1', 'a00:1', '808:808']) {
      const address = `${prefix}${embedded}`;
      const text = address.includes('::') || address.split(':').length === 8 ? address : `${address}::`;
      expect([text, isAllowedAddress(text, strict)]).toEqual([text, false]);
    }
  });
});

describe('where private networks are allowed', () => {
  test.each([
    '127.0.0.1',
    '127.9.9.9',
    '10.1.2.3',
    '172.20.0.1',
    '192.168.1.1',
    '::1',
    'fd12::1',
    '::ffff:127.0.0.1',
  ])('%s is', (address) => {
    expect([isAllowedAddress(address, strict), isAllowedAddress(address, lenient)]).toEqual([false, true]);
  });

  test.each([
    '0.0.0.0',
    '169.254.1.1',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    'fe80::1',
    'ff02::1',
    '100.64.0.1',
  ])('%s still is not', (address) => expect(isAllowedAddress(address, lenient)).toBe(false));
});

test.each(['', 'localhost', 'example.com', '1.2.3.4.5', '::g', '8.8.8.8/8', 'fe80::1%eth0'])(
  'the text "%s" is not an address that may be used',
  (text) => expect(isAllowedAddress(text, strict)).toBe(false),
);
