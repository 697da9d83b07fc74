import { randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Visit } from './page.ts';

const KEPT_MS = 12 * 3_600_000;

type Keeper = Pick<Visit, 'formToken' | 'person'>;

/** What was shown under other roles is not shown again. */
const keyOf = ({ formToken, person }: Keeper, id: string): string =>
  JSON.stringify([formToken, id, person?.grants]);

/**
 * Values that stay here, in memory, while an address holds only the number of one: what was typed stands in no address, and yet a
 * page can be loaded again, gone back to, and followed by the next.
 */
export class Kept<Value extends object> {
  readonly #kept: LRUCache<string, Value>;

  /** @param most the one that was not used for longest goes when there are more */
  constructor(most: number) {
    this.#kept = new LRUCache({ max: most, ttl: KEPT_MS });
  }

  /** Its number, which means nothing to another session. */
  keep(keeper: Keeper, value: Value): string {
    const id = randomUUID();
    this.#kept.set(keyOf(keeper, id), value);
    return id;
  }

  find(keeper: Keeper, id: string): Value | undefined {
    return this.#kept.get(keyOf(keeper, id));
  }
}
