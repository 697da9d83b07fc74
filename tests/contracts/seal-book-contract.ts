import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { LogPosition } from '../../application/ports/event-store.ts';
import type { SealHead, SealRecord, SqlSealBook } from '../../application/audit/seals/seal-book.ts';

const record = (number: number, overrides: Partial<SealRecord> = {}): SealRecord => ({
  number,
  kind: number === 1 ? 'begin' : 'live',
  log: 'embedded',
  through: number === 1 ? 'start' : (`${number}0/${number}0` as LogPosition),
  events: number,
  total: number * 3_000_000_000,
  digest: `digest ${number}`,
  sealedAt: '2026-01-15T12:00:00.000Z',
  mac: `mac ${number}`,
  ...overrides,
});
const head = (number: number): SealHead => ({ number, mac: `mac ${number}`, proof: `proof ${number}` });
const add = (book: SqlSealBook, number: number, overrides: Partial<SealRecord> = {}) =>
  book.add(record(number, overrides), head(number));

export const describeSealBookContract = (
  adapter: string,
  open: () => Promise<{ readonly book: SqlSealBook; close(): Promise<void> }>,
): void => {
  describe(`${adapter} keeps the promises of the seal book`, () => {
    let fixture: Awaited<ReturnType<typeof open>>;
    let book: SqlSealBook;
    beforeEach(async () => {
      fixture = await open();
      book = fixture.book;
    });
    afterEach(() => fixture.close());

    test('an empty one has neither head nor begin', async () => {
      expect([await book.head(), await book.lastBegin(), await book.page(0, 10)]).toEqual([undefined, 0, []]);
    });

    test('what was added is read back in order, and the head is the last of it', async () => {
      for (const number of [1, 2, 3]) expect(await add(book, number)).toBe(true);
      expect(await add(book, 4, { kind: 'begin', through: 'start' })).toBe(true);
      expect(await book.head()).toEqual(head(4));
      expect(await book.lastBegin()).toBe(4);
      expect(await book.page(1, 2)).toEqual([record(2), record(3)]);
    });

    test('of those that add the same record at once, one does', async () => {
      for (const number of [1, 2]) {
        const answers = await Promise.all(
          Array.from({ length: 8 }, (_, i) => add(book, number, { events: i })),
        );
        expect(answers.filter(Boolean)).toHaveLength(1);
      }
      expect((await book.page(0, 10)).length).toBe(2);
      expect(await book.head()).toEqual(head(2));
    });

    test('a record that does not follow the head is not stored', async () => {
      await add(book, 1);
      expect([await add(book, 1), await add(book, 3)]).toEqual([false, false]);
      expect(await book.page(0, 10)).toEqual([record(1)]);
    });
  });
};
