import { describe, expect, test } from '@jest/globals';
import type { SealRecord } from '../../../application/audit/seals/seal-book.ts';
import type { RecordedEvent } from '../../../application/ports/event-store.ts';
import { keptDeliveries } from '../../../application/webhooks/delivery-comparison.ts';
import type { Timestamp } from '../../../domain/shared/identifiers.ts';
import { logOrder } from '../../../infrastructure/composition/read-models.ts';
import { fixedClock } from '../../support/application-parts.ts';

const DAY_MS = 86_400_000;
const NOW = Date.parse('2026-06-20T12:00:00.000Z');
const daysAgo = (days: number): string => new Date(NOW - days * DAY_MS).toISOString();

type Seal = Pick<SealRecord, 'kind' | 'sealedAt'> & { readonly through: string };

const looked = async (seals: readonly Seal[], aheadDays = 0) => {
  const records = seals.map((seal, index) => ({ ...seal, number: index + 1 }) as unknown as SealRecord);
  const book = {
    head: async () => (records.length === 0 ? undefined : { number: records.length, mac: '', proof: '' }),
    page: async (after: number, limit: number) => records.slice(after, after + limit),
    lastBegin: async () => records.findLastIndex(({ kind }) => kind === 'begin') + 1,
  };
  const realClock = fixedClock(daysAgo(0) as Timestamp);
  const clock = fixedClock(daysAgo(-aheadDays) as Timestamp);
  const kept = await keptDeliveries({ book, order: logOrder, clock, realClock, keptForMs: 30 * DAY_MS });
  const covers = (position: string, recordedAt: string) =>
    kept.covers({ position, metadata: { recordedAt } } as unknown as RecordedEvent);
  return { from: kept.from, covers };
};

const begin = (days: number): Seal => ({ kind: 'begin', sealedAt: daysAgo(days), through: 'start' });
const live = (through: string, days: number): Seal => ({ kind: 'live', sealedAt: daysAgo(days), through });
const found = (through: string, days: number): Seal => ({ ...live(through, days), kind: 'found' });

describe('events of which no delivery is removed for its age', () => {
  test('are those that came within the retention, by what the seals say of a clock that was moved', async () => {
    const seals = [begin(90), live('10', 80), live('20', 31), live('30', 29), live('40', 1)];
    const { from, covers } = await looked(seals, 270);
    expect(from).toBe('20');
    // Recorded by a business time that says nothing of when that was.
    expect(covers('20', daysAgo(31))).toBe(false);
    expect(covers('21', daysAgo(29))).toBe(true);
    expect(covers('41', daysAgo(-270))).toBe(true);
  });

  test('of a young log all of them, of what was found there none before its seals', async () => {
    expect(await looked([begin(2), live('10', 1)])).toMatchObject({ from: 'start' });
    const { from, covers } = await looked([begin(2), found('10', 2), found('20', 2), live('30', 1)], 270);
    expect(from).toBe('start');
    expect(covers('15', daysAgo(1))).toBe(false);
    expect(covers('25', daysAgo(1))).toBe(true);
  });

  test('of what was found there those that are young by a clock that nobody moved', async () => {
    const { from, covers } = await looked([begin(2), found('10', 2), live('20', 1)]);
    expect(from).toBe('start');
    expect([covers('5', daysAgo(3)), covers('5', daysAgo(31))]).toEqual([true, false]);
  });

  test.each([[[]], [[begin(90), live('10', 60)]]])(
    'by time alone where no seal is young enough',
    async (seals) => {
      const { from, covers } = await looked(seals);
      expect(from).toBe('start');
      expect(covers('11', daysAgo(31))).toBe(false);
      expect(covers('11', daysAgo(29))).toBe(true);
      expect((await looked(seals, 270)).covers('11', daysAgo(29))).toBe(false);
    },
  );
});
