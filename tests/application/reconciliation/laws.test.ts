import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { addDays, calendarDate } from '../../../domain/shared/calendar-date.ts';
import { Payments } from '../../../application/reconciliation/payments.ts';
import { june, line, settled, told } from './support.ts';

const FIRST = calendarDate('2026-06-01');
const day = fc.integer({ min: 0, max: 29 }).map((days) => addDays(FIRST, days));
const amount = fc.constantFrom(100, 200, 300, 500);
const reference = fc.constantFrom('A/001', 'A/002', 'B/001', 'A', 'B', 'C/001', '', 'PIX');
const payments = fc.uniqueArray(
  fc.tuple(fc.constantFrom('A/001', 'A/002', 'A/003', 'B/001', 'B/002'), day, amount),
  { selector: ([name]) => name },
);
const lines = fc.array(fc.tuple(day, amount, reference), { maxLength: 8 });

test('every payment and every line is found exactly once, and the same input is told the same', async () => {
  await fc.assert(
    fc.asyncProperty(payments, lines, async (some, others) => {
      const notified = some.map(([name, date, value]) => settled(name, date, value));
      const statement = others.map(([date, value, text]) => line(date, value, text));
      const found = await june(notified, statement);
      const all = [...found.findings()];
      expect(all.flatMap(({ payment }) => (payment ? [payment.eventId] : [])).toSorted()).toEqual(
        notified.map((_, i) => `00000000-0000-4000-8000-${String(i + 1).padStart(12, '0')}`),
      );
      expect(all.flatMap((one) => (one.line ? [one.line.line] : [])).toSorted((a, b) => a - b)).toEqual(
        statement.map((_, i) => i + 2),
      );
      expect(told(await june(notified, statement))).toEqual(told(found));
      const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
      expect(found.notified.amount).toBe(sum(notified.map((one) => one.amount)));
      expect(found.statement.amount).toBe(sum(statement.map((one) => one.amount)));
    }),
    { numRuns: 40 },
  );
});

test('a statement that says what was notified is clean, in any order', async () => {
  const shuffled = payments.chain((some) => fc.shuffledSubarray([...some], { minLength: some.length }));
  await fc.assert(
    fc.asyncProperty(shuffled, async (some) => {
      const notified = some.map(([name, date, value]) => settled(name, date, value));
      const statement = some.toReversed().map(([name, date, value]) => line(date, value, name));
      const { clean, rules } = await june(notified, statement);
      expect([clean, rules.exact]).toEqual([true, some.length]);
    }),
    { numRuns: 20 },
  );
});

test('a line costs the payments of its days, not all of an operation that has many', async () => {
  const [payments, lines] = [480, 500];
  const first = calendarDate('2026-06-01');
  const { after } = Payments.prototype;
  let steps = 0;
  Payments.prototype.after = function (payment) {
    steps++;
    return after.call(this, payment);
  };
  try {
    const found = await june(
      Array.from({ length: payments }, (_, n) => settled('A/001', addDays(first, n), 95_000 + n)),
      Array.from({ length: lines }, (_, n) => line(addDays(first, n % payments), 1_000 + n, 'A')),
      { to: addDays(first, payments) },
    );
    expect(found.results.missing_in_notifications.count + found.results.amount_differs.count).toBe(lines);
  } finally {
    Payments.prototype.after = after;
  }
  // Up to 24 before a search, then those of seven days, in each of some passes; all of them would be 240,000 in each.
  expect(steps).toBeLessThan(lines * 7 * (24 + 7) + payments * (24 + 7) + payments);
});

test('one payment in ten thousand lines, and as many that name what is not there, let others work meanwhile', async () => {
  const count = 10_000;
  let turns = 0;
  const turning = (): void => void (turns++, (next = setImmediate(turning)));
  let next = setImmediate(turning);
  const parts = Array.from({ length: count }, () => line('2026-06-02', 1, 'A'));
  const strange = Array.from({ length: count }, (_, i) => line('2026-06-20', 7, `B/${i}`));
  const many = Array.from({ length: 480 }, (_, i) => settled(`B/x${i}`, '2026-06-20', 1_000));
  const { results, rules, findings } = await june(
    [settled('A/001', '2026-06-02', count), ...many],
    [...parts, ...strange],
  );
  clearImmediate(next);
  expect(rules.parts).toBe(1);
  expect(results.missing_in_notifications.count).toBe(count);
  expect(results.duplicate_in_statement.count).toBe(0);
  expect([...findings()].filter(({ rule }) => rule === 'parts')).toHaveLength(count);
  expect(turns).toBeGreaterThan(3);
});
