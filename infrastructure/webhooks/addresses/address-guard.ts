import type { LookupAddress } from 'node:dns';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { LRUCache } from 'lru-cache';
import { DomainError } from '../../../domain/shared/domain-error.ts';
import { DnsQueries } from './dns-queries.ts';

export type Addresses = readonly LookupAddress[];
type Answer = { readonly addresses: Addresses } | { readonly error: unknown };

const DEFAULTS = {
  /** Names of one application that are asked for at the same time; its others wait. */
  namesAtOnce: 8,
  /** How long an answer is used again: as long as a connection is kept alive, so a busy endpoint is not asked for at each delivery. */
  answersMs: 5_000,
  /** The same of a failure. */
  failuresMs: 10_000,
};

interface Settings extends Readonly<typeof DEFAULTS> {
  readonly queries: Pick<DnsQueries, 'addressesOf'>;
}

/** One application's names: those asked for now, and what waits for one of them to be answered. */
interface Line {
  asking: number;
  readonly waiting: (() => void)[];
}

const REMEMBERED = 5_000;

/**
 * The addresses of names, on behalf of applications: each has a few names asked for at a time, so names that no server answers for
 * delay only the application that uses them.
 */
export class NameResolver {
  readonly #settings: Settings;
  readonly #answers = new LRUCache<string, Answer>({ max: REMEMBERED });
  readonly #asked = new Map<string, Promise<Addresses>>();
  readonly #lines = new Map<string, Line>();

  constructor(settings: Partial<Settings> = {}) {
    this.#settings = { ...DEFAULTS, queries: new DnsQueries(), ...settings };
  }

  /** At once when the answer is known; then a failure that is remembered is thrown at once as well. @throws the name server's error */
  resolve(hostname: string, applicationId: string): Addresses | Promise<Addresses> {
    return this.#known(hostname) ?? this.#asked.get(hostname) ?? this.#inLine(hostname, applicationId);
  }

  #known(hostname: string): Addresses | undefined {
    const answer = this.#answers.get(hostname);
    if (answer && 'error' in answer) throw answer.error;
    return answer?.addresses;
  }

  async #inLine(hostname: string, applicationId: string): Promise<Addresses> {
    const line = this.#lines.get(applicationId) ?? { asking: 0, waiting: [] };
    this.#lines.set(applicationId, line);
    if (line.asking < this.#settings.namesAtOnce) line.asking += 1;
    // Woken with the place of one that was answered.
    else await new Promise<void>((resolve) => line.waiting.push(resolve));
    try {
      // Another that waited for the same name may have been first.
      return await (this.#known(hostname) ?? this.#asked.get(hostname) ?? this.#ask(hostname));
    } finally {
      const next = line.waiting.shift();
      if (next) next();
      else if (--line.asking === 0) this.#lines.delete(applicationId);
    }
  }

  async #ask(hostname: string): Promise<Addresses> {
    const { queries, answersMs, failuresMs } = this.#settings;
    const asked = queries.addressesOf(hostname);
    this.#asked.set(hostname, asked);
    try {
      const addresses = await asked;
      this.#answers.set(hostname, { addresses }, { ttl: answersMs });
      return addresses;
    } catch (error) {
      this.#answers.set(hostname, { error }, { ttl: failuresMs });
      throw error;
    } finally {
      this.#asked.delete(hostname);
    }
  }
}

export interface WebhookTarget {
  readonly origin: string;
  readonly host: string;
  /** Without brackets; a name, or an address in its usual notation. */
  readonly hostname: string;
  readonly isLiteral: boolean;
  readonly path: string;
}

const MAX_LENGTH = 2048;
/** Read differently by different parsers, or silently dropped by this one. */
const AMBIGUOUS = /[\s\\\p{Cc}]/u;
const AUTHORITY_WITH_USER = /^https:\/\/[^/?#]*@/i;

/** What is wrong with the text as a webhook's address, if anything. */
const flawOf = (text: string): string | undefined => {
  if (text.length > MAX_LENGTH) return `longer than ${MAX_LENGTH} characters`;
  if (AMBIGUOUS.test(text)) return 'spaces, control characters and backslashes are not allowed';
  if (!URL.canParse(text)) return 'not an absolute URL';
  if (!/^https:\/\/[^/]/i.test(text)) return 'only https is allowed, written as https://host';
  if (AUTHORITY_WITH_USER.test(text)) return 'user information is not allowed';
  if (text.includes('#')) return 'a fragment is not allowed';
  if (new URL(text).port === '0') return 'port 0 is not one that can be reached';
  return undefined;
};

/** @throws RangeError saying what is wrong */
export const parseWebhookUrl = (text: string): WebhookTarget => {
  const flaw = flawOf(text);
  if (flaw !== undefined) throw new RangeError(flaw);
  const { origin, host, hostname, pathname, search } = new URL(text);
  const bare = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  return { origin, host, hostname: bare, isLiteral: isIP(bare) !== 0, path: pathname + search };
};

interface AddressPolicy {
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

/** The address, or one of the name's, is not one that webhooks may be sent to. Does not say which: names inside stay inside. */
export class BlockedAddressError extends Error {
  override readonly name = 'BlockedAddressError';
  readonly code = 'BLOCKED_ADDRESS';
}

/** All addresses of a name, asked for on behalf of an application; at once when they are known. */
export type Resolve = (hostname: string, applicationId: string) => Addresses | Promise<Addresses>;

/** Names that mean this machine or its own network by definition (RFC 6761, 6762, 8375, 9476; `internal` by ICANN's decision). */
const RESERVED_NAME = /(^|\.)(localhost|local|internal|home\.arpa|invalid|onion|alt)\.?$/i;

const blocked = (): BlockedAddressError => new BlockedAddressError('not a globally routable address');

interface Options extends AddressPolicy {
  /** Default: name servers, and the hosts file of this machine. */
  readonly resolve?: Resolve;
  /** Said with a refusal at registration: how an installation of one's own may allow it. */
  readonly hint?: string;
}

/**
 * One set of rules at registration and at every sending. Registration judges by what the URL itself says, so that it does not tell its caller
 * what a name inside stands for. At a sending the checked addresses are handed to the socket themselves, so a name that changes its
 * answer in between is never asked again.
 */
export class DnsAddressGuard {
  readonly #policy: AddressPolicy;
  readonly #resolve: Resolve;
  readonly #hint: string;

  constructor({ allowPrivateNetwork, resolve, hint }: Options) {
    this.#policy = { allowPrivateNetwork };
    const names = new NameResolver();
    this.#resolve = resolve ?? ((hostname, applicationId) => names.resolve(hostname, applicationId));
    this.#hint = hint === undefined ? '' : ` (${hint})`;
  }

  check(url: string): void {
    const target = this.#parsed(url);
    try {
      this.checkHost(target);
    } catch {
      throw invalidUrl(`the host must be reachable from the public internet${this.#hint}`);
    }
  }

  #parsed(url: string): WebhookTarget {
    try {
      return parseWebhookUrl(url);
    } catch (error) {
      throw invalidUrl((error as Error).message);
    }
  }

  /** The part of the rules that needs no resolver. @throws BlockedAddressError */
  checkHost({ hostname, isLiteral }: WebhookTarget): void {
    const allowed = isLiteral
      ? this.allows(hostname)
      : this.#policy.allowPrivateNetwork || !RESERVED_NAME.test(hostname);
    if (!allowed) throw blocked();
  }

  allows(address: string): boolean {
    return isAllowedAddress(address, this.#policy);
  }

  /**
   * Every address of the name; answers, or throws, at once when it is known.
   * @throws BlockedAddressError when one of them may not be used @throws the resolver's error
   */
  addressesOf(hostname: string, applicationId: string): Addresses | Promise<Addresses> {
    const addresses = this.#resolve(hostname, applicationId);
    return addresses instanceof Promise
      ? addresses.then((answer) => this.#checked(answer))
      : this.#checked(addresses);
  }

  #checked(addresses: Addresses): Addresses {
    if (addresses.length === 0) throw Object.assign(new Error('no address'), { code: 'ENODATA' });
    if (!addresses.every(({ address }) => this.allows(address))) throw blocked();
    return addresses;
  }
}

const invalidUrl = (message: string): DomainError =>
  new DomainError('invalid_webhook_url', `url: ${message}`, [
    { field: 'url', code: 'invalid_webhook_url', message },
  ]);
