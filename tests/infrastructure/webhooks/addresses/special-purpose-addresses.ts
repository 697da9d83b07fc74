/**
 * The IANA registries of special-purpose addresses (IPv4 and IPv6, as of 2025) with the column "Globally Reachable", and the
 * multicast and reserved blocks beside them. Written down here from the registries, not derived from any library.
 */
export interface SpecialPurposeBlock {
  readonly block: string;
  readonly name: string;
  readonly globallyReachable: boolean;
}

const block = (text: string, name: string, globallyReachable = false): SpecialPurposeBlock => ({
  block: text,
  name,
  globallyReachable,
});

export const ipv4SpecialPurpose: readonly SpecialPurposeBlock[] = [
  block('0.0.0.0/8', 'This network'),
  block('10.0.0.0/8', 'Private-Use'),
  block('100.64.0.0/10', 'Shared Address Space'),
  block('127.0.0.0/8', 'Loopback'),
  block('169.254.0.0/16', 'Link Local'),
  block('172.16.0.0/12', 'Private-Use'),
  block('192.0.0.0/24', 'IETF Protocol Assignments'),
  block('192.0.2.0/24', 'Documentation (TEST-NET-1)'),
  block('192.31.196.0/24', 'AS112-v4', true),
  block('192.52.193.0/24', 'AMT', true),
  block('192.88.99.0/24', 'Deprecated (6to4 Relay Anycast)'),
  block('192.168.0.0/16', 'Private-Use'),
  block('192.175.48.0/24', 'Direct Delegation AS112 Service', true),
  block('198.18.0.0/15', 'Benchmarking'),
  block('198.51.100.0/24', 'Documentation (TEST-NET-2)'),
  block('203.0.113.0/24', 'Documentation (TEST-NET-3)'),
  block('224.0.0.0/4', 'Multicast'),
  block('240.0.0.0/4', 'Reserved'),
  block('255.255.255.255/32', 'Limited Broadcast'),
];

export const ipv6SpecialPurpose: readonly SpecialPurposeBlock[] = [
  block('::1/128', 'Loopback Address'),
  block('::/128', 'Unspecified Address'),
  block('::ffff:0:0/96', 'IPv4-mapped Address'),
  block('64:ff9b::/96', 'IPv4-IPv6 Translation', true),
  block('64:ff9b:1::/48', 'IPv4-IPv6 Translation'),
  block('100::/64', 'Discard-Only Address Block'),
  block('100:0:0:1::/64', 'Dummy IPv6 Prefix'),
  block('2001::/23', 'IETF Protocol Assignments'),
  block('2001::/32', 'TEREDO'),
  block('2001:1::1/128', 'Port Control Protocol Anycast', true),
  block('2001:1::2/128', 'TURN Anycast', true),
  block('2001:1::3/128', 'DNS-SD Service Registration Protocol Anycast', true),
  block('2001:2::/48', 'Benchmarking'),
  block('2001:3::/32', 'AMT', true),
  block('2001:4:112::/48', 'AS112-v6', true),
  block('2001:10::/28', 'Deprecated (ORCHID)'),
  block('2001:20::/28', 'ORCHIDv2', true),
  block('2001:30::/28', 'Drone Remote ID Protocol Entity Tags', true),
  block('2001:db8::/32', 'Documentation'),
  block('2002::/16', '6to4'),
  block('2620:4f:8000::/48', 'Direct Delegation AS112 Service', true),
  block('3fff::/20', 'Documentation'),
  block('5f00::/16', 'Segment Routing (SRv6) SIDs'),
  block('fc00::/7', 'Unique-Local'),
  block('fe80::/10', 'Link-Local Unicast'),
  block('fec0::/10', 'Deprecated (Site-Local)'),
  block('ff00::/8', 'Multicast'),
];
