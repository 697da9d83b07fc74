import { describe, expect, test } from '@jest/globals';
import { UPLOAD_BOUNDS } from '../../../../infrastructure/http/bodies/uploads.ts';
import { Slots } from '../../../../infrastructure/http/limits/slots.ts';
import type { Slot, SlotBounds } from '../../../../infrastructure/http/limits/slots.ts';

const SMALL: SlotBounds = {
  application: { places: 3, weight: 100 },
  process: { places: 6, weight: 1000 },
  waiting: 2,
  waitMs: 10_000,
  leastWeight: 10,
  mostWeight: 90,
  refused: UPLOAD_BOUNDS.refused,
};
const stays = new AbortController().signal;

/** Enters, and tells in which order the uploads got in. */
const scene = (bounds: Partial<SlotBounds> = {}) => {
  const slots = new Slots({ ...SMALL, ...bounds });
  const entered: string[] = [];
  const enter = async (
    name: string,
    { weight, signal = stays }: { weight?: number; signal?: AbortSignal } = {},
  ): Promise<Slot> => {
    const slot = await slots.enter(name.split('-')[0]!, weight, () => signal);
    entered.push(name);
    return slot;
  };
  return { slots, enter, entered };
};

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('uploads under way', () => {
  test('64 of one application go on at once', async () => {
    const slots = new Slots(UPLOAD_BOUNDS);
    const all = Array.from({ length: 64 }, () => slots.enter('a', undefined, () => stays));
    await Promise.all(all);
    expect(UPLOAD_BOUNDS.waitMs).toBe(10_000);
  });

  test('at the end none waits any more, and those under way go on', async () => {
    const { slots, enter, entered } = scene();
    const [first, second] = await Promise.all([enter('a-1'), enter('a-2'), enter('a-3')]);
    const covered = first.cover(20);
    const waiting = expect(enter('a-4')).rejects.toMatchObject({ code: 'rate_limited' });
    await turn();
    slots.end();
    await waiting;
    await expect(enter('a-5')).rejects.toMatchObject({ code: 'rate_limited' });
    second.leave();
    await covered;
    expect(entered).toEqual(['a-1', 'a-2', 'a-3']);
  });

  test('beyond the bound they wait in order, and a place that is given back lets the next one in', async () => {
    const { enter, entered } = scene();
    const [first] = await Promise.all([enter('a-1'), enter('a-2'), enter('a-3')]);
    const waiting = [enter('a-4'), enter('a-5')];
    await turn();
    expect(entered).toEqual(['a-1', 'a-2', 'a-3']);
    first.leave();
    first.leave();
    (await waiting[0])!.leave();
    await waiting[1];
    expect(entered.slice(3)).toEqual(['a-4', 'a-5']);
  });

  test('those that wait too long, and those for which too many wait, are told to come again', async () => {
    const { enter } = scene({ waitMs: 20 });
    await Promise.all([enter('a-1'), enter('a-2'), enter('a-3')]);
    const refusal = { status: 429, headers: ['Retry-After', '5'] };
    const waiting = Promise.allSettled([enter('a-4'), enter('a-5')]);
    await expect(enter('a-6')).rejects.toMatchObject(refusal);
    expect(await waiting).toMatchObject([{ reason: refusal }, { reason: refusal }]);
    const b = await enter('b-1');
    b.leave();
  });

  test('a client that leaves while it waits gives its turn to the next', async () => {
    const { enter, entered } = scene();
    const [first] = await Promise.all([enter('a-1'), enter('a-2'), enter('a-3')]);
    const gone = new AbortController();
    const left = enter('a-4', { signal: gone.signal });
    const next = enter('a-5');
    gone.abort();
    await expect(left).rejects.toMatchObject({ name: 'ClientGoneError' });
    first.leave();
    await next;
    expect(entered).toEqual(['a-1', 'a-2', 'a-3', 'a-5']);
    await expect(enter('a-6', { signal: gone.signal })).rejects.toMatchObject({ name: 'ClientGoneError' });
  });

  test('the fuller the process, the less for one application: there is room for one that comes new', async () => {
    const { enter, entered } = scene({ waitMs: 100 });
    for (const name of ['a-1', 'a-2', 'a-3', 'b-1', 'b-2', 'b-3']) void enter(name).catch(() => undefined);
    await turn();
    expect(entered).toEqual(['a-1', 'a-2', 'a-3', 'b-1', 'b-2']);
    await enter('c-1');
  });

  test('a free place goes to the application that has the fewest', async () => {
    const { enter, entered } = scene({ application: { places: 2, weight: 100 } });
    const [a, , b] = await Promise.all(['a-1', 'a-2', 'b-1', 'b-2'].map((name) => enter(name)));
    const waiting = ['a-3', 'b-3'].map((name) => enter(name));
    b!.leave();
    const second = await waiting[1]!;
    expect(entered.slice(4)).toEqual(['b-3']);
    for (const slot of [a!, second]) slot.leave();
    await waiting[0];
  });

  test('large ones count as what they are: their bytes are bounded, too', async () => {
    const { enter, entered } = scene();
    const [large] = await Promise.all([enter('a-1', { weight: 80 }), enter('a-2', { weight: 20 })]);
    const next = enter('a-3', { weight: 1 });
    await turn();
    expect(entered).toEqual(['a-1', 'a-2']);
    large.leave();
    await next;
  });

  test('one of unknown length counts as small, until it is not; then it goes before what has not begun', async () => {
    const { enter, entered } = scene();
    const [unknown, known] = await Promise.all([enter('a-1'), enter('a-2', { weight: 80 })]);
    await unknown.cover(10);
    const growing = unknown.cover(11).then(() => entered.push('grown'));
    const next = enter('a-3', { weight: 80 });
    await turn();
    expect(entered).toEqual(['a-1', 'a-2']);
    known.leave();
    await growing;
    unknown.leave();
    await next;
    expect(entered).toEqual(['a-1', 'a-2', 'grown', 'a-3']);
  });

  test('one that is given up while it waits to grow gives back all that it held', async () => {
    const { enter, entered } = scene();
    const [unknown, known] = await Promise.all([enter('a-1'), enter('a-2', { weight: 80 })]);
    const growing = unknown.cover(11);
    unknown.leave();
    await expect(growing).rejects.toMatchObject({ name: 'ClientGoneError' });
    known.leave();
    await Promise.all([enter('a-3', { weight: 50 }), enter('a-4', { weight: 50 })]);
    expect(entered.length).toBe(4);
  });

  test('one that comes at that very moment counts from then on', async () => {
    const { enter, entered } = scene({ application: { places: 1, weight: 100 } });
    const [unknown, other] = await Promise.all([enter('a-1'), enter('b-1', { weight: 950 })]);
    const growing = unknown.cover(11);
    unknown.leave();
    const next = enter('a-2');
    await expect(growing).rejects.toMatchObject({ name: 'ClientGoneError' });
    await next;
    other.leave();
    const last = enter('a-3');
    await turn();
    expect(entered).toEqual(['a-1', 'b-1', 'a-2']);
    (await next).leave();
    await last;
  });
});
