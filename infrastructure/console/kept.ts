import { randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { ownerOf } from './live.ts';
import type { Visit } from './page.ts';

const KEPT_MS = 12 * 3_600_000;
/** Who did nothing for longest gives way, with all that was kept. */
const MOST_OWNERS = 64;

type Keeper = Pick<Visit, 'formToken' | 'person'>;

/** What was shown under other roles is not shown again. */
const keyOf = ({ formToken, person }: Keeper, id: string): string =>
  JSON.stringify([formToken, id, person?.grants]);

/**
 * Values that stay here, in memory, while an address holds only the number of one: what was typed stands in no address, and yet a
 * page can be loaded again, gone back to, and followed by the next.
 */
export class Kept<Value extends object> {
  readonly #most: number;
  readonly #owners = new LRUCache<string, LRUCache<string, Value>>({ max: MOST_OWNERS, ttl: KEPT_MS });

  /** @param most of a person; the one that was not used for longest goes when there are more */
  constructor(most: number) {
    this.#most = most;
  }

  /** Its number, which means nothing to another session. */
  keep(keeper: Keeper, value: Value): string {
    const id = randomUUID();
    const owner = ownerOf(keeper.person);
    const kept = this.#owners.get(owner) ?? new LRUCache({ max: this.#most, ttl: KEPT_MS });
    kept.set(keyOf(keeper, id), value);
    this.#owners.set(owner, kept);
    return id;
  }

  find(keeper: Keeper, id: string): Value | undefined {
    return this.#owners.get(ownerOf(keeper.person))?.get(keyOf(keeper, id));
  }
}
