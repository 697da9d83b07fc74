import type { LookupAddress } from 'node:dns';
import { LRUCache } from 'lru-cache';
import { DnsQueries } from './dns-queries.ts';

export type Addresses = readonly LookupAddress[];
type Answer = { readonly addresses: Addresses } | { readonly error: unknown };

interface Settings {
  readonly queries?: Pick<DnsQueries, 'addressesOf'>;
  /** Names of one application that are asked for at the same time; its others wait. */
  readonly namesAtOnce?: number;
  /** How long an answer, and how long a failure, is used again. */
  readonly answersMs?: number;
  readonly failuresMs?: number;
}

/** One application's names: those asked for now, and what waits for one of them to be answered. */
interface Line {
  asking: number;
  readonly waiting: (() => void)[];
}

const NAMES_AT_ONCE = 8;
/** As long as a connection is kept alive: a busy endpoint is not asked for at each delivery. */
const ANSWERS_MS = 5_000;
const FAILURES_MS = 10_000;
const REMEMBERED = 5_000;

/**
 * The addresses of names, on behalf of applications: each has a few names asked for at a time, so names that no server answers for
 * delay only the application that uses them.
 */
export class NameResolver {
  readonly #settings: Required<Settings>;
  readonly #answers = new LRUCache<string, Answer>({ max: REMEMBERED });
  readonly #asked = new Map<string, Promise<Addresses>>();
  readonly #lines = new Map<string, Line>();

  constructor(settings: Settings = {}) {
    this.#settings = {
      queries: new DnsQueries(),
      namesAtOnce: NAMES_AT_ONCE,
      answersMs: ANSWERS_MS,
      failuresMs: FAILURES_MS,
      ...settings,
    };
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
