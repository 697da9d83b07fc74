import { describe, expect, test } from '@jest/globals';
import type { Payment } from './support.ts';
import { compareStatement } from '../../../application/reconciliation/compare-statement.ts';
import type { Notified } from '../../../application/reconciliation/compare-statement.ts';
import { calendarDate } from '../../../domain/shared/calendar-date.ts';
import { june, line, settled, told } from './support.ts';

const A1 = settled('A/001', '2026-06-10', 95_000);
const A2 = settled('A/002', '2026-06-10', 95_000);
const B1 = settled('B-2026/001', '2026-06-12', 70_000);
const prepaid = (code: string, date: string, amount: number): Payment => ({ code, date, amount });

describe('a line finds its payment', () => {
  test.each([
    ['the code and the installment', 'A/001', 'exact'],
    ['the id of the event', '00000000-0000-4000-8000-000000000001', 'reference_and_amount'],
    ['another separator', 'A-001', 'exact'],
    ['a word among others', 'LIQ PARCELA A/001 PIX', 'exact'],
    ['a word before others', 'A/001 PIX JOANA', 'exact'],
    ['the code before another word', 'A JOANA', 'operation_same_day'],
    ['the code alone', 'A', 'operation_same_day'],
    ['nothing', '', 'amount_and_date'],
    ['something that is no reference', 'PIX RECEBIDO', 'amount_and_date'],
  ])('by %s', async (_, reference, rule) => {
    const date = rule === 'reference_and_amount' ? '2026-06-11' : '2026-06-10';
    expect(told(await june([A1], [line(date, 95_000, reference)]))).toEqual([`${rule}: A/001 = line 2`]);
  });

  test('without regard to case and punctuation, when nothing else names it', async () => {
    const found = await june([B1], [line('2026-06-12', 70_000, 'b2026001')]);
    expect(told(found)).toEqual(['exact: B-2026/001 = line 2']);
  });

  test('whatever stands in a text as long as a line may be, hundreds of which take no time', async () => {
    const lines = Array.from({ length: 50 }, (_, i) =>
      line('2026-06-12', 1, `${i} ${'b2026x'.repeat(10_000)}`),
    );
    const found = await june(
      [B1],
      [line('2026-06-12', 70_000, `B-2026/001 ${'x'.repeat(60_000)}`), ...lines],
    );
    expect(told(found).slice(0, 2)).toEqual([
      'exact: B-2026/001 = line 2',
      'missing_in_notifications: line 3',
    ]);
  });

  test('within the window, and not a day beyond it', async () => {
    expect(told(await june([A1], [line('2026-06-13', 95_000, 'A/001')]))).toEqual([
      'reference_and_amount: A/001 = line 2',
    ]);
    expect(told(await june([A1], [line('2026-06-14', 95_000, 'A/001')]))).toEqual([
      'missing_in_statement: A/001',
      'missing_in_notifications: line 2',
    ]);
  });

  test('in a period without an end', async () => {
    expect(told(await june([A1], [line('2026-06-10', 95_000, 'A/001')], { to: '9999-12-31' }))).toEqual([
      'exact: A/001 = line 2',
    ]);
  });

  test('on its own day before one of another day, whichever stands first in the file', async () => {
    const payments = [prepaid('C', '2026-06-10', 100), prepaid('C', '2026-06-12', 100)];
    const lines = [line('2026-06-12', 100, 'C'), line('2026-06-10', 100, 'C')];
    expect(told(await june(payments, lines))).toEqual(['exact: C = line 3', 'exact: C = line 2']);
  });

  test.each(['A/002', 'A-002', 'A 002'])('of another installment never: %s', async (reference) => {
    expect(told(await june([A1], [line('2026-06-10', 95_000, reference)]))).toEqual([
      'missing_in_statement: A/001',
      'missing_in_notifications: line 2',
    ]);
  });

  test('only once: of two equal lines one is left, and so is one of two equal payments', async () => {
    const twoLines = await june([A1], [line('2026-06-10', 95_000), line('2026-06-10', 95_000)]);
    expect(told(twoLines)).toEqual(['amount_and_date: A/001 = line 2', 'missing_in_notifications: line 3']);
    const twoPayments = await june([A1, A2], [line('2026-06-10', 95_000)]);
    expect(told(twoPayments)).toEqual(['amount_and_date: A/001 = line 2', 'missing_in_statement: A/002']);
  });

  test('by amount and date only when its reference names no operation of the fund', async () => {
    const lines = [line('2026-06-10', 95_000, 'Z/001')];
    expect(told(await june([A1], lines))).toEqual(['amount_and_date: A/001 = line 2']);
    const apart = ['missing_in_statement: A/001', 'missing_in_notifications: line 2'];
    expect(told(await june([A1], lines, { idle: ['Z'] }))).toEqual(apart);
    expect(told(await june([A1], lines, { requireReference: true }))).toEqual(apart);
  });
});

describe('a line that names something else than what it would fit by amount and date', () => {
  const D = '2026-06-10';
  const apart = (payment: string) => [`missing_in_statement: ${payment}`, 'missing_in_notifications: line 2'];

  test.each(['A/002', 'A-002', 'PIX A.002 JOANA', 'A/002 JOANA'])(
    'another installment: %s',
    async (reference) => {
      expect(told(await june([A1], [line(D, 95_000, reference)]))).toEqual(apart('A/001'));
    },
  );

  test.each(['Z', 'Z/003', 'Z-003', 'LIQ Z#003'])(
    'an operation of which nothing was notified: %s',
    async (reference) => {
      expect(told(await june([A1], [line(D, 95_000, reference)], { idle: ['Z'] }))).toEqual(apart('A/001'));
    },
  );

  test('a code of the fund with something behind it that is none of its installments names nothing', async () => {
    const lines = [line(D, 95_000, 'Z-77')];
    expect(told(await june([A1], lines, { idle: ['Z'] }))).toEqual(['amount_and_date: A/001 = line 2']);
  });

  test.each(['2026-04-10', '2026-09-10'])('the event of a payment of %s', async (date) => {
    const beyond = settled('B-2026/001', date, 95_000);
    for (const before of ['', 'PIX ']) {
      const lines = [line(D, 95_000, `${before}00000000-0000-4000-8000-000000000001`)];
      expect(told(await june([beyond, A1], lines))).toEqual(apart('A/001'));
      const ofSameOperation = settled('A/003', date, 95_000);
      expect(told(await june([ofSameOperation, A1], lines))).toEqual(apart('A/001'));
    }
  });

  test('the event of one of two equal payments, as a word among others', async () => {
    const lines = [line(D, 95_000, 'PIX 00000000-0000-4000-8000-000000000002')];
    expect(told(await june([A1, A2], lines))).toEqual([
      'exact: A/002 = line 2',
      'missing_in_statement: A/001',
    ]);
  });

  test('an id that is no event of the fund names nothing', async () => {
    const lines = [line(D, 95_000, '99999999-0000-4000-8000-000000000009')];
    expect(told(await june([A1], lines))).toEqual(['amount_and_date: A/001 = line 2']);
  });
});

describe('amounts', () => {
  test('that differ by no more than the tolerance match', async () => {
    const lines = [line('2026-06-10', 94_998, 'A/001')];
    expect(told(await june([A1], lines, { toleranceCents: 2 }))).toEqual([
      'within_tolerance: A/001 = line 2',
    ]);
    expect(told(await june([A1], lines, { toleranceCents: 1 }))).toEqual(['amount_differs: A/001 = line 2']);
  });

  test('money that went out matches nothing', async () => {
    expect(told(await june([A1], [line('2026-06-10', -95_000, 'X')]))).toEqual([
      'missing_in_statement: A/001',
      'missing_in_notifications: line 2',
    ]);
  });

  test('money that went out matches nothing that it names either, alone or as a part, whatever the tolerance', async () => {
    const apart = ['missing_in_statement: A/001', 'missing_in_notifications: line 2'];
    expect(told(await june([A1], [line('2026-06-10', -95_000, 'A/001')]))).toEqual(apart);
    const small = settled('A/001', '2026-06-10', 50);
    const lines = [line('2026-06-10', -10, 'A/001')];
    expect(told(await june([small], lines, { toleranceCents: 100 }))).toEqual(apart);
    const back = [line('2026-06-10', 100_000, 'A/001'), line('2026-06-10', -5_000, 'A/001')];
    expect(told(await june([A1], back))).toEqual([
      'amount_differs: A/001 = line 2',
      'missing_in_notifications: line 3',
    ]);
  });
});

describe('groups', () => {
  test('one line for all payments of an operation on a day', async () => {
    const found = await june([A1, A2], [line('2026-06-11', 190_000, 'A')]);
    expect(told(found)).toEqual(['batch: A/001 = line 2', 'batch: A/002']);
    expect(found.clean).toBe(true);
    expect(found.rules.batch).toBe(1);
  });

  test('several lines for one prepayment', async () => {
    const lines = [line('2026-06-10', 60_000, 'C/012'), line('2026-06-10', 40_000, 'C/011')];
    const found = await june([prepaid('C', '2026-06-10', 100_000)], lines);
    expect(told(found)).toEqual(['parts: C = line 2', 'parts: line 3']);
    expect([found.rules.parts, found.results.matched.amount]).toEqual([1, 100_000]);
  });

  test('lines that name other installments, or other payments, are no parts of a settlement', async () => {
    const others = [line('2026-06-10', 60_000, 'A/002'), line('2026-06-10', 35_000, 'A/003')];
    const found = await june([A1], others);
    expect(told(found)).toEqual([
      'missing_in_statement: A/001',
      'missing_in_notifications: line 2',
      'missing_in_notifications: line 3',
    ]);
    expect(found.clean).toBe(false);
    const byEvent = [
      line('2026-06-10', 60_000, '00000000-0000-4000-8000-000000000002'),
      line('2026-06-10', 35_000, 'A'),
    ];
    expect(told(await june([A1, A2], byEvent))).toEqual([
      'parts: A/002 = line 2',
      'parts: line 3',
      'missing_in_statement: A/001',
    ]);
    const own = [line('2026-06-10', 60_000, 'A/001'), line('2026-06-10', 35_000, 'A')];
    expect(told(await june([A1], own))).toEqual(['parts: A/001 = line 2', 'parts: line 3']);
  });

  test('one line for everything of a day, or for everything of one kind', async () => {
    const payments = [A1, A2, prepaid('C', '2026-06-10', 100)];
    expect((await june(payments, [line('2026-06-10', 190_100)])).clean).toBe(true);
    const settlements = await june(payments, [line('2026-06-10', 190_000, 'LOTE 17')]);
    expect(told(settlements)).toEqual([
      'day_total: A/001 = line 2',
      'day_total: A/002',
      'missing_in_statement: C',
    ]);
  });
});

describe('duplicates', () => {
  test('in the statement name the line that they repeat', async () => {
    const lines = [line('2026-06-10', 95_000, 'A/001'), line('2026-06-11', 95_000, 'A/001')];
    expect(told(await june([A1], lines))).toEqual([
      'exact: A/001 = line 2',
      'duplicate_in_statement: line 3 of 2',
    ]);
  });

  test('are not taken for a payment of the operation with another amount', async () => {
    const other = prepaid('C', '2026-06-10', 500);
    const lines = [line('2026-06-10', 100, 'C'), line('2026-06-10', 100, 'C')];
    expect(told(await june([prepaid('C', '2026-06-10', 100), other], lines))).toEqual([
      'exact: C = line 2',
      'missing_in_statement: C',
      'duplicate_in_statement: line 3 of 2',
    ]);
  });

  test('in the notifications name the event that they repeat', async () => {
    const twice = [prepaid('C', '2026-06-10', 100), prepaid('C', '2026-06-11', 100)];
    expect(told(await june(twice, [line('2026-06-10', 100, 'C')]))).toEqual([
      'exact: C = line 2',
      'duplicate_in_notifications: C of 00000000-0000-4000-8000-000000000001',
    ]);
  });

  test('are no two payments of a schedule, a month apart', async () => {
    const monthly = [prepaid('C', '2026-06-01', 100), prepaid('C', '2026-06-30', 100)];
    expect(told(await june(monthly, [line('2026-06-01', 100, 'C')]))).toContain('missing_in_statement: C');
  });
});

describe('the period', () => {
  test('reaches beyond its ends by the window, and reports only what concerns it', async () => {
    const lastDay = settled('A/001', '2026-06-30', 100);
    const july = settled('A/002', '2026-07-02', 200);
    const lines = [line('2026-07-01', 100, 'A/001'), line('2026-07-01', 200, 'A/002')];
    const found = await june([lastDay, july], [...lines, line('2026-08-01', 5, 'A')]);
    expect(told(found)).toEqual(['reference_and_amount: A/001 = line 2']);
    expect(found.linesOutside).toBe(1);
    expect(found.notified).toEqual({ count: 1, amount: 100 });
    expect(found.statement).toEqual({ count: 1, amount: 100 });
  });

  test('has totals by day and kind, each side by its own date', async () => {
    const found = await june(
      [A1, prepaid('C', '2026-06-10', 100)],
      [line('2026-06-11', 95_000, 'A/001'), line('2026-06-10', 7, 'unknown')],
    );
    const none = { count: 0, amount: 0 };
    const one = (amount: number) => ({ count: 1, amount });
    expect(found.totals).toEqual([
      { date: '2026-06-10', kind: 'settlement', notified: one(95_000), statement: none },
      { date: '2026-06-10', kind: 'prepayment', notified: one(100), statement: none },
      { date: '2026-06-10', kind: 'unidentified', notified: none, statement: one(7) },
      { date: '2026-06-11', kind: 'settlement', notified: none, statement: one(95_000) },
    ]);
  });
});

test('what deserves a look is listed, whether it arrived or not', async () => {
  const repurchase = (code: string, more: Partial<Payment>): Payment => ({
    ...{ code, date: '2026-06-20', amount: 1_000, kind: 'repurchase', owed_value: 1_000 },
    ...more,
  });
  const found = await june(
    [
      { ...A1, underpaid_value: 5, owed_value: 95_005 },
      { ...A2, excess_value: 7 },
      { ...prepaid('C', '2026-06-10', 100), shortfall_value: 9 },
      repurchase('D', {
        reason: 'cession_reversal',
        received_before: 300,
        completed_at: '2026-06-21T12:00:00.000Z',
      }),
      repurchase('E', { reason: 'repurchase', received_before: 300 }),
      { ...prepaid('F', '2026-07-02', 100), excess_value: 1 },
    ],
    [],
  );
  const remarks = [...found.remarks()].map(({ remark, value, payment }) => [remark, value, payment.code]);
  expect(remarks).toEqual([
    ['underpayment', 5, 'A'],
    ['excess', 7, 'A'],
    ['shortfall', 9, 'C'],
    ['reversal_after_payments', 300, 'D'],
    ['repurchase_pending', 1_000, 'E'],
  ]);
});

test('texts that name nothing are looked up some at a time: millions of them begin with more codes than one set can hold', async () => {
  const asked: string[][] = [];
  const notified: Notified = {
    async *within() {},
    operationsAmong: async (_, codes) => {
      asked.push([...codes]);
      return codes.filter((code) => code === 'PIX');
    },
    async *installmentsOf(_, codes) {
      yield codes.map((code) => ({ code, installment: '1200' }));
    },
  };
  const statement = Array.from({ length: 1_200 }, (_, i) => ({
    ...line('2026-06-10', 100 + i, `PIX ${i + 1}`),
    line: i + 2,
  }));
  const comparison = await compareStatement(notified, {
    ...{ fundId: 'fund-1', from: calendarDate('2026-06-01'), to: calendarDate('2026-06-30') },
    tolerances: { windowDays: 3, toleranceCents: 0, requireReference: false },
    statement: (async function* () {
      yield statement;
    })(),
  });
  expect(comparison.results.missing_in_notifications.count).toBe(1_200);
  expect(asked.filter((codes) => codes.includes('PIX'))).toHaveLength(3);
});
