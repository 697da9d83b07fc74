import type { LookupAddress } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { TimedOutError, within } from '../../support/time.ts';

const PATH = '/etc/hosts';
const READ_AGAIN_MS = 5_000;
/** Loopback by definition (RFC 6761): no query for it ever leaves this machine. */
const LOCALHOST = /(^|\.)localhost$/;
const LOOPBACK: readonly LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

type Hosts = ReadonlyMap<string, readonly LookupAddress[]>;

const parseHosts = (text: string): Hosts => {
  const hosts = new Map<string, LookupAddress[]>();
  for (const line of text.split('\n')) {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    const family = isIP(address);
    if (family === 0) continue;
    for (const name of names.map((one) => one.toLowerCase()))
      hosts.set(name, [...(hosts.get(name) ?? []), { address, family }]);
  }
  return hosts;
};

/** What this machine knows of names without asking anyone; c-ares would ask for these too. */
class HostsFile {
  readonly #path: string;
  #hosts: Hosts = new Map();
  #readAt = -Infinity;

  constructor(path = PATH) {
    this.#path = path;
  }

  /** Undefined for a name that a name server has to be asked for. */
  async find(hostname: string): Promise<readonly LookupAddress[] | undefined> {
    const name = hostname.toLowerCase().replace(/\.$/, '');
    if (performance.now() - this.#readAt > READ_AGAIN_MS) await this.#read();
    return this.#hosts.get(name) ?? (LOCALHOST.test(name) ? LOOPBACK : undefined);
  }

  async #read(): Promise<void> {
    this.#readAt = performance.now();
    // Without the file there is nothing in it.
    this.#hosts = parseHosts(await readFile(this.#path, 'utf8').catch(() => ''));
  }
}

interface DnsSettings {
  /** As `dns.setServers` takes them; default: those of the system. */
  readonly servers?: readonly string[];
  readonly hostsFile?: string;
  /** For all questions about one name. */
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 3_000;
const TRIES = 2;
/** A resolver reads the system's configuration once, so a new one notices that it changed. */
const RESOLVER_LIVES_MS = 60_000;
/** More than any receiver has. Those beyond are neither checked nor connected to. */
const MOST_ADDRESSES = 32;
/** What the answers of name servers are called elsewhere in the service; whatever else goes wrong is "no answer". */
const TOLD = new Set(['ENOTFOUND', 'ENODATA', 'ETIMEOUT']);

const failure = (code: string): Error => Object.assign(new Error(`dns: ${code}`), { code });

const codeOf = (error: unknown): string => {
  const { code } = error as { code?: unknown };
  if (code === 'EBADNAME') return 'ENOTFOUND';
  return typeof code === 'string' && TOLD.has(code) ? code : 'ESERVFAIL';
};

/**
 * The addresses of names, asked for with c-ares. The system's own resolver (`dns.lookup`) holds one of libuv's four threads for as
 * long as a name server keeps it waiting, and files, hashes and every other name wait for those threads too.
 */
export class DnsQueries {
  readonly #settings: DnsSettings;
  readonly #timeoutMs: number;
  readonly #hosts: HostsFile;
  #resolver: Resolver | undefined;
  #madeAt = 0;

  constructor(settings: DnsSettings = {}) {
    this.#settings = settings;
    this.#timeoutMs = settings.timeoutMs ?? TIMEOUT_MS;
    this.#hosts = new HostsFile(settings.hostsFile);
  }

  /** IPv4 before IPv6. @throws Error with the code ENOTFOUND, ENODATA, ETIMEOUT or ESERVFAIL */
  async addressesOf(hostname: string): Promise<readonly LookupAddress[]> {
    const local = await this.#hosts.find(hostname);
    if (local) return local;
    try {
      return await within(this.#timeoutMs, 'a name server', this.#ask(hostname));
    } catch (error) {
      throw error instanceof TimedOutError ? failure('ETIMEOUT') : error;
    }
  }

  async #ask(hostname: string): Promise<readonly LookupAddress[]> {
    const resolver = this.#current();
    const answers = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    const addresses = answers.flatMap((answer, index) =>
      answer.status === 'fulfilled'
        ? answer.value.slice(0, MOST_ADDRESSES).map((address) => ({ address, family: index === 0 ? 4 : 6 }))
        : [],
    );
    if (addresses.length > 0) return addresses;
    const codes = answers.map((answer) => (answer.status === 'rejected' ? codeOf(answer.reason) : 'ENODATA'));
    // Of two different failures, the one that may be another tomorrow.
    const order = ['ESERVFAIL', 'ETIMEOUT', 'ENODATA', 'ENOTFOUND'];
    throw failure(order.find((code) => codes.includes(code)) ?? 'ESERVFAIL');
  }

  #current(): Resolver {
    const now = performance.now();
    if (this.#resolver && now - this.#madeAt < RESOLVER_LIVES_MS) return this.#resolver;
    const resolver = new Resolver({ timeout: Math.ceil(this.#timeoutMs / (TRIES + 1)), tries: TRIES });
    if (this.#settings.servers) resolver.setServers(this.#settings.servers);
    this.#resolver = resolver;
    this.#madeAt = now;
    return resolver;
  }
}
