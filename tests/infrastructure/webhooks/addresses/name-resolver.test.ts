import { describe, expect, test } from '@jest/globals';
import { NameResolver } from '../../../../infrastructure/webhooks/addresses/address-guard.ts';
import type { Addresses } from '../../../../infrastructure/webhooks/addresses/address-guard.ts';
import { until } from '../../../support/within.ts';

const ADDRESSES: Addresses = [{ address: '93.184.216.34', family: 4 }];
const settle = () => new Promise((resolve) => setImmediate(resolve));

/** A name server of words: names stay open until they are answered. */
class Questions {
  readonly asked: string[] = [];
  readonly #open = new Map<string, (error?: Error) => void>();

  addressesOf(name: string): Promise<Addresses> {
    this.asked.push(name);
    return new Promise((resolve, reject) =>
      this.#open.set(name, (error) => (error ? reject(error) : resolve(ADDRESSES))),
    );
  }

  answer(name: string, error?: Error): void {
    this.#open.get(name)!(error);
  }
}

const resolverOf = (settings = {}) => {
  const queries = new Questions();
  return { queries, names: new NameResolver({ queries, namesAtOnce: 2, ...settings }) };
};
const failure = Object.assign(new Error('dns: ETIMEOUT'), { code: 'ETIMEOUT' });

describe('answers', () => {
  test('are used by everyone who asks for the name meanwhile, and after', async () => {
    const { queries, names } = resolverOf();
    const [one, two] = [names.resolve('a.example', 'one'), names.resolve('a.example', 'two')];
    queries.answer('a.example');
    expect([await one, await two]).toEqual([ADDRESSES, ADDRESSES]);
    expect(names.resolve('a.example', 'three')).toBe(ADDRESSES);
    expect(queries.asked).toEqual(['a.example']);
  });

  test('that are failures are remembered too, and thrown at once', async () => {
    const { queries, names } = resolverOf();
    const waiting = names.resolve('a.example', 'one');
    queries.answer('a.example', failure);
    await expect(waiting).rejects.toBe(failure);
    expect(() => names.resolve('a.example', 'two')).toThrow(failure);
    expect(queries.asked).toHaveLength(1);
  });

  test.each([undefined, failure])('are forgotten after a while (%s)', async (error) => {
    const { queries, names } = resolverOf({ answersMs: 1, failuresMs: 1 });
    const waiting = names.resolve('a.example', 'one');
    queries.answer('a.example', error);
    await Promise.allSettled([waiting]);
    const forgotten = () => {
      try {
        return names.resolve('a.example', 'one') instanceof Promise;
      } catch {
        return false;
      }
    };
    await until(forgotten, 'the end of what was answered');
    expect(queries.asked).toHaveLength(2);
  });
});

describe('names of one application', () => {
  test('are asked for a few at a time; those of others do not wait for them', async () => {
    const { queries, names } = resolverOf();
    const mine = ['a', 'b', 'c', 'd'].map((name) => names.resolve(name, 'one'));
    const other = names.resolve('e', 'two');
    expect(queries.asked).toEqual(['a', 'b', 'e']);
    queries.answer('e');
    await other;
    queries.answer('b', failure);
    await expect(mine[1]).rejects.toBe(failure);
    await settle();
    expect(queries.asked).toEqual(['a', 'b', 'e', 'c']);
    queries.answer('a');
    queries.answer('c');
    await Promise.all([mine[0], mine[2]]);
    await settle();
    queries.answer('d');
    expect(await mine[3]).toBe(ADDRESSES);
  });

  test('that wait in line do not hold up another who asks for the same name', async () => {
    const { queries, names } = resolverOf();
    const mine = ['a', 'b', 'c'].map((name) => names.resolve(name, 'one'));
    const others = names.resolve('c', 'two');
    expect(queries.asked).toEqual(['a', 'b', 'c']);
    queries.answer('c');
    expect(await others).toBe(ADDRESSES);
    queries.answer('a');
    queries.answer('b');
    expect(await mine[2]).toBe(ADDRESSES);
    expect(queries.asked).toEqual(['a', 'b', 'c']);
  });
});
