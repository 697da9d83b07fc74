import ipaddr from 'ipaddr.js';

export interface AddressPolicy {
  /** Also loopback and private networks, for tests and closed installations. Never link-local, multicast or metadata services. */
  readonly allowPrivateNetwork: boolean;
}

/** Answer only inside a cloud provider's network, whatever their range says. */
const METADATA_SERVICES = new Set(
  ['168.63.129.16', 'fd00:ec2::254', 'fd20:ce::254'].map((text) => ipaddr.parse(text).toString()),
);
const PRIVATE_RANGES = new Set<string>(['loopback', 'private', 'uniqueLocal']);
const GLOBAL_UNICAST: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('2000::'), 3];

/** ISATAP (RFC 5214): an interface id of 0000:5efe or 0200:5efe, then an IPv4 address that a router may forward to. */
const isatapTarget = (address: ipaddr.IPv6): ipaddr.IPv4 | undefined => {
  const [high, low] = [address.parts[4]! & ~0x0200, address.parts[5]];
  return high === 0 && low === 0x5efe ? new ipaddr.IPv4(address.toByteArray().slice(12)) : undefined;
};

const isGlobal = (address: ipaddr.IPv4 | ipaddr.IPv6): boolean => {
  if (address.range() !== 'unicast') return false;
  if (address instanceof ipaddr.IPv4) return true;
  if (!address.match(GLOBAL_UNICAST)) return false;
  const embedded = isatapTarget(address);
  return embedded === undefined || isGlobal(embedded);
};

/** True when webhooks may be sent to this address, given as text in any notation. IPv4 inside IPv6 is judged as IPv4. */
export const isAllowedAddress = (text: string, policy: AddressPolicy): boolean => {
  if (!ipaddr.isValid(text)) return false;
  const address = ipaddr.process(text);
  if (METADATA_SERVICES.has(address.toString())) return false;
  return isGlobal(address) || (policy.allowPrivateNetwork && PRIVATE_RANGES.has(address.range()));
};
