import { setImmediate as turn } from 'node:timers/promises';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { LogTail } from '../../../infrastructure/support/log-tail.ts';

const numbers = (first: number, count: number): readonly number[] =>
  Array.from({ length: count }, (_, n) => first + n);

let said: string[] = [];
const newTail = (charactersOf: (item: number) => number = () => 1): LogTail<number> =>
  new LogTail<number>({ begin: () => said.push('begin'), rest: () => said.push('rest') }, charactersOf);

beforeEach(() => void (said = []));

describe('what is kept', () => {
  test('is given behind any number that it covers, up to a limit', () => {
    const tail = newTail();
    tail.restart(10);
    tail.push([11, 12]);
    tail.push([13]);
    expect(tail.high).toBe(13);
    expect([10, 12, 13, 15].map((number) => tail.after(number, 100))).toEqual([[11, 12, 13], [13], [], []]);
    expect(tail.after(11, 1)).toEqual([12]);
    expect(tail.after(9, 100)).toBeUndefined();
  });

  test('is nothing of before a restart', () => {
    const tail = newTail();
    tail.push([1, 2]);
    tail.restart(13);
    expect([tail.high, tail.after(2, 100), tail.after(13, 100)]).toEqual([13, undefined, []]);
    tail.push([14]);
    expect(tail.after(13, 100)).toEqual([14]);
  });

  test('is bounded by number: the oldest leave first, and are handed back', () => {
    const tail = newTail();
    const left: number[] = [];
    for (let n = 0; n < 20; n++) left.push(...tail.push(numbers(n * 500 + 1, 500)));
    expect(left).toEqual(numbers(1, left.length));
    expect([tail.high, tail.after(left.length - 1, 1)]).toEqual([10_000, undefined]);
    expect(tail.after(left.length, 20_000)).toEqual(numbers(left.length + 1, 10_000 - left.length));
    expect(10_000 - left.length).toBeLessThanOrEqual(8_192);
  });

  test('is bounded by characters, of what is still kept', () => {
    const tail = newTail(() => 10_000_000);
    expect([1, 2, 3, 4, 5, 6].map((item) => tail.push([item]))).toEqual([[], [], [], [1, 2], [], [3, 4]]);
  });

  test('is found by what holds for it, and otherwise begins before all', () => {
    const tail = newTail();
    tail.restart(10);
    tail.push([5, 7, 9]);
    expect([7, 8, 100].map((place) => tail.newest((item) => item <= place))).toEqual([12, 12, 13]);
    expect(tail.newest(() => false)).toBe(10);
  });
});

describe('news', () => {
  const never = new AbortController().signal;

  test('wake all who wait for them: what is pushed, and a restart', async () => {
    const tail = newTail();
    const waiting = [tail.news(0, never), tail.news(0, never, 60_000)];
    tail.push([1]);
    expect(await Promise.all(waiting)).toEqual([true, true]);
    const next = tail.news(1, never);
    tail.restart(1);
    expect(await next).toBe(true);
  });

  test('that are there already are not waited for, nor after the signal', async () => {
    const tail = newTail();
    tail.push([1]);
    expect(await tail.news(0, never)).toBe(true);
    expect(await tail.news(1, AbortSignal.abort())).toBe(true);
  });

  test('end with the signal or the time', async () => {
    const tail = newTail();
    const controller = new AbortController();
    const waiting = tail.news(0, controller.signal);
    controller.abort();
    expect(await waiting).toBe(true);
    expect(await tail.news(0, never, 1)).toBe(false);
  });
});

describe('who follows', () => {
  let controller = new AbortController();
  beforeEach(() => void (controller = new AbortController()));

  const follow = (tail: LogTail<number>): AsyncGenerator<number, void, undefined> => {
    const { signal } = controller;
    const messages = async function* (): AsyncGenerator<number> {
      for (let number = 0; ; number++) {
        yield number;
        await turn();
      }
    };
    return tail.follow(messages(), signal);
  };

  test('has the log read from the first to the last of them', async () => {
    const tail = newTail();
    const [one, other] = [follow(tail), follow(tail)];
    expect(said).toEqual([]);
    await one.next();
    await other.next();
    await one.return();
    expect(said).toEqual(['begin']);
    await other.return();
    expect(said).toEqual(['begin', 'rest']);
    await follow(tail).next();
    expect(said).toEqual(['begin', 'rest', 'begin']);
  });

  test('is gone with the signal, even without asking for another message, and once', async () => {
    const tail = newTail();
    const [one, other] = [follow(tail), follow(tail)];
    for (const messages of [one, other]) expect(await messages.next()).toEqual({ done: false, value: 0 });
    controller.abort();
    expect(said).toEqual(['begin', 'rest']);
    for (const messages of [one, other]) expect((await messages.next()).done).toBe(true);
    expect(said).toEqual(['begin', 'rest']);
  });

  test('hears what goes wrong, and leaves', async () => {
    const tail = newTail();
    const broken = async function* (): AsyncGenerator<number> {
      yield await Promise.reject(new RangeError('no place'));
    };
    await expect(tail.follow(broken(), controller.signal).next()).rejects.toThrow('no place');
    expect(said).toEqual(['begin', 'rest']);
  });

  test('does not begin after the signal', async () => {
    controller.abort();
    expect((await follow(newTail()).next()).done).toBe(true);
    expect(said).toEqual([]);
  });
});
