import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { HandledEvents } from '../../../infrastructure/kafka/records.ts';

const id = (sequence: number): string => `id-${sequence}`;
const handling = (sequences: readonly number[], from = HandledEvents.of(undefined)): HandledEvents =>
  sequences.reduce((handled, sequence) => handled.with(sequence, id(sequence)), from);
/** Through the text that is stored. */
const stored = (handled: HandledEvents, sequence: number): HandledEvents =>
  HandledEvents.of({ operation: 'o', sequence, eventIds: [], handled: handled.toString() });
const upTo = (count: number): readonly number[] => Array.from({ length: count }, (_, n) => n);

describe('what was handled of an operation', () => {
  test('is known exactly, however it came about and after it was stored', () => {
    const ascending = fc
      .uniqueArray(fc.nat(200), { minLength: 1 })
      .map((all) => all.toSorted((a, b) => a - b));
    fc.assert(
      fc.property(ascending, fc.nat(220), (sequences, asked) => {
        const again = stored(handling(sequences), sequences.at(-1)!);
        expect(again.has(asked, id(asked))).toBe(sequences.includes(asked));
      }),
    );
  });

  test('one that comes after all takes its place, whatever it is', () => {
    fc.assert(
      fc.property(fc.shuffledSubarray([...upTo(80)], { minLength: 1 }), (sequences) => {
        const handled = handling(sequences);
        expect(upTo(90).filter((one) => handled.has(one, id(one)))).toEqual(
          sequences.toSorted((a, b) => a - b),
        );
      }),
    );
  });

  test('another event under the number of a recent one was not handled', () => {
    const handled = handling(upTo(40));
    expect(handled.has(39, 'another')).toBe(false);
    expect(handled.has(39, id(39))).toBe(true);
    expect(handled.with(39, 'another').has(39, 'another')).toBe(true);
  });

  test('takes little room, however long an operation lives', () => {
    expect(handling(upTo(1_000)).toString().length).toBeLessThan(500);
    expect(handling(upTo(1_000)).toString()).toMatch(/^0-967 968:[0-9a-f]{8} /);
  });

  test('a mark of a release that kept the newest event alone says that all before it was handled', () => {
    const old = HandledEvents.of({ operation: 'o', sequence: 5, eventIds: [id(5)] });
    expect([0, 4, 5, 6].map((one) => old.has(one, id(one)))).toEqual([true, true, true, false]);
    expect(old.has(5, 'another')).toBe(false);
  });

  test('so does one that such a release moved on, for what it handled itself', () => {
    const handled = handling([0, 2]).toString();
    const moved = HandledEvents.of({ operation: 'o', sequence: 5, eventIds: [id(5)], handled });
    expect(upTo(7).filter((one) => moved.has(one, id(one)))).toEqual([0, 2, 3, 4, 5]);
  });
});
