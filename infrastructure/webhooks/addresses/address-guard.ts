import { lookup as systemLookup } from 'node:dns/promises';
import type { LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';
import type { WebhookAddressGuard } from '../../../application/ports/webhook-address-guard.ts';
import { DomainError } from '../../../domain/shared/domain-error.ts';
import { isAllowedAddress } from './address-rules.ts';
import type { AddressPolicy } from './address-rules.ts';
import { parseWebhookUrl } from './webhook-url.ts';
import type { WebhookTarget } from './webhook-url.ts';

/** All addresses of a name. */
export type Resolve = (hostname: string) => Promise<readonly LookupAddress[]>;

/** The address, or one of the name's, is not one that webhooks may be sent to. Does not say which: names inside stay inside. */
export class BlockedAddressError extends Error {
  override readonly name = 'BlockedAddressError';
  readonly code = 'BLOCKED_ADDRESS';
}

const REGISTRATION_LOOKUP_MS = 2_000;
/** Loopback by definition (RFC 6761), whatever a resolver says. */
const LOCALHOST = /(^|\.)localhost\.?$/i;

const resolveAll: Resolve = (hostname) => systemLookup(hostname, { all: true, verbatim: true });

const blocked = (): BlockedAddressError => new BlockedAddressError('not a globally routable address');

const within = async <T>(ms: number, work: Promise<T>): Promise<T | undefined> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, ms, undefined);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
};

interface Options extends AddressPolicy {
  /** Default: the system's resolver, which knows the hosts file. */
  readonly resolve?: Resolve;
}

/**
 * One set of rules at registration and at every connection. At a connection the checked addresses are handed to the socket
 * themselves, so a name that changes its answer in between is never asked again.
 */
export class DnsAddressGuard implements WebhookAddressGuard {
  readonly #policy: AddressPolicy;
  readonly #resolve: Resolve;
  readonly #pending = new Map<string, Promise<readonly LookupAddress[]>>();

  constructor({ allowPrivateNetwork, resolve = resolveAll }: Options) {
    this.#policy = { allowPrivateNetwork };
    this.#resolve = resolve;
  }

  async check(url: string): Promise<void> {
    const target = this.#parsed(url);
    try {
      this.checkHost(target);
      if (!target.isLiteral) await within(REGISTRATION_LOOKUP_MS, this.addressesOf(target.hostname));
    } catch (error) {
      // A name unknown today may exist tomorrow; what it stands for is checked at each sending.
      if (!(error instanceof BlockedAddressError)) return;
      throw new DomainError(
        'invalid_webhook_url',
        'url: the host must be reachable from the public internet',
      );
    }
  }

  #parsed(url: string): WebhookTarget {
    try {
      return parseWebhookUrl(url);
    } catch (error) {
      throw new DomainError('invalid_webhook_url', `url: ${(error as Error).message}`);
    }
  }

  /** The part of the rules that needs no resolver. @throws BlockedAddressError */
  checkHost({ hostname, isLiteral }: WebhookTarget): void {
    if (isLiteral ? !this.allows(hostname) : LOCALHOST.test(hostname) && !this.#policy.allowPrivateNetwork)
      throw blocked();
  }

  allows(address: string): boolean {
    return isAllowedAddress(address, this.#policy);
  }

  /** Every address of the name. @throws BlockedAddressError when one of them may not be used @throws the resolver's error */
  async addressesOf(hostname: string): Promise<readonly LookupAddress[]> {
    const addresses = await this.#resolveOnce(hostname);
    if (addresses.length === 0) throw Object.assign(new Error('no address'), { code: 'ENODATA' });
    if (!addresses.every(({ address }) => this.allows(address))) throw blocked();
    return addresses;
  }

  /** The system's resolver has few threads: a name that answers slowly takes one of them, not all. */
  async #resolveOnce(hostname: string): Promise<readonly LookupAddress[]> {
    const pending = this.#pending.get(hostname);
    if (pending) return pending;
    const started = this.#resolve(hostname).finally(() => this.#pending.delete(hostname));
    this.#pending.set(hostname, started);
    return started;
  }

  /** For `tls.connect`: answers only addresses that passed. */
  readonly lookup: LookupFunction = (hostname, options, callback) => {
    const wanted = options.family === 4 || options.family === 6 ? options.family : undefined;
    this.addressesOf(hostname).then(
      (addresses) => {
        const fitting = addresses.filter(({ family }) => wanted === undefined || family === wanted);
        const [first] = fitting;
        if (!first)
          callback(Object.assign(new Error('no address of this family'), { code: 'ENODATA' }), '', 0);
        else if (options.all) callback(null, fitting);
        else callback(null, first.address, first.family);
      },
      (error: unknown) => callback(error as NodeJS.ErrnoException, '', 0),
    );
  };
}
