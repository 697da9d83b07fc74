import type { LookupAddress } from 'node:dns';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';

const PATH = '/etc/hosts';
const READ_AGAIN_MS = 5_000;
/** Loopback by definition (RFC 6761): no query for it ever leaves this machine. */
const LOCALHOST = /(^|\.)localhost$/;
const LOOPBACK: readonly LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

type Hosts = ReadonlyMap<string, readonly LookupAddress[]>;

/** The names of a hosts file, in lower case. */
export const parseHosts = (text: string): Hosts => {
  const hosts = new Map<string, LookupAddress[]>();
  for (const line of text.split('\n')) {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    const family = isIP(address);
    if (family === 0) continue;
    for (const name of names) {
      const key = name.toLowerCase();
      const known = hosts.get(key);
      if (known) known.push({ address, family });
      else hosts.set(key, [{ address, family }]);
    }
  }
  return hosts;
};

/** What this machine knows of names without asking anyone; c-ares would ask for these too. */
export class HostsFile {
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
