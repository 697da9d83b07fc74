import { randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { ownerOf } from './live.ts';
import { ConsoleProblem, view } from './page.ts';
import type { Visit, ActionAnswer, PageAnswer, Page } from './page.ts';
import { either, inLanguages } from './language.ts';

const KEPT_MS = 12 * 3_600_000;
const MOST_OWNERS = 64;

type Keeper = Pick<Visit, 'formToken' | 'person'>;

interface Room<Value> {
  readonly mostBytes: number;
  readonly bytesOf: (value: Value) => number;
}

/** What was shown under other roles is not shown again. */
const keyOf = ({ formToken, person }: Keeper, id: string): string =>
  JSON.stringify([formToken, id, person?.grants]);

/**
 * Values that stay here, in memory, while an address holds only the number of one: what was typed stands in no address, and yet a
 * page can be loaded again, gone back to, and followed by the next. The one that was not used for longest gives way, of its person
 * and of everybody.
 */
export class Kept<Value extends object> {
  readonly #most: number;
  readonly #held: LRUCache<string, { readonly owner: string; readonly value: Value }>;

  /** @param most of a person @param room default: their number alone is bounded */
  constructor(most: number, room?: Room<Value>) {
    this.#most = most;
    this.#held = new LRUCache({
      ...{ max: most * MOST_OWNERS, ttl: KEPT_MS },
      ...(room && { maxSize: room.mostBytes, sizeCalculation: ({ value }) => room.bytesOf(value) }),
    });
  }

  /** Its number, which means nothing to another session. */
  keep(keeper: Keeper, value: Value): string {
    const id = randomUUID();
    const owner = ownerOf(keeper.person);
    const own = [...this.#held.entries()].filter(([, held]) => held.owner === owner);
    for (const [key] of own.slice(this.#most - 1)) this.#held.delete(key);
    this.#held.set(keyOf(keeper, id), { owner, value });
    return id;
  }

  find(keeper: Keeper, id: string): Value | undefined {
    return this.#held.get(keyOf(keeper, id))?.value;
  }
}

const texts = inLanguages({
  gone: [
    'Esta página não é mais guardada. O que foi decidido aparece na operação; para decidir, abra a lista.',
    'This page is not kept any more. What was decided is shown with the operation; to decide, open the list.',
  ],
});

interface KeptPage {
  readonly show: (visit: Visit) => PageAnswer;
  readonly of: Page;
}

const MOST = 64;
const pages = new Kept<KeptPage>(MOST);

/**
 * The answer to a posted form: the browser is sent to what is shown, drawn for each visit, so that going back, loading again and
 * changing the language send no form a second time.
 */
export const keptPage = (visit: Visit, show: KeptPage['show']): ActionAnswer => ({
  kind: 'redirect',
  to: `/kept/${pages.keep(visit, { show, of: visit.page })}`,
});

export const keptPages: Page = {
  path: '/kept',
  title: () => either('Resultado', 'Result'),
  hidden: true,
  routes: [
    view('/kept/:id', async (visit) => {
      const found = pages.find(visit, visit.params['id']!);
      if (found === undefined) throw new ConsoleProblem(404, () => texts.gone);
      return { ...found.show(visit), of: found.of };
    }),
  ],
};
