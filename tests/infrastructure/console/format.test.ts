import { describe, expect, test } from '@jest/globals';
import {
  amount,
  centsTyped,
  count,
  date,
  duration,
  instant,
  percent,
  span,
} from '../../../infrastructure/console/format.ts';
import { preferred } from '../../../infrastructure/console/language.ts';

/** Written with spaces that do not break, as Intl does. */
const plain = (text: string): string => text.replaceAll('\u00A0', ' ');

describe('as Brazil writes it', () => {
  test.each([
    [123_456, 'R$ 1.234,56'],
    [0, 'R$ 0,00'],
    [5, 'R$ 0,05'],
    [-123_456_789, '-R$ 1.234.567,89'],
    [99_999_999_999_999, 'R$ 999.999.999.999,99'],
  ])('%d cents are %s', (cents, text) => {
    expect(plain(amount(cents))).toBe(text);
  });

  test('days, instants in São Paulo, counts and shares', () => {
    expect(date('2026-11-22')).toBe('22/11/2026');
    expect(instant('2026-11-22T02:05:09.000Z')).toBe('21/11/2026, 23:05:09');
    expect(count(1_234_567)).toBe('1.234.567');
    expect(percent(0.1234)).toBe('12,34%');
  });

  test.each([
    [0, '0 ms'],
    [850.4, '850 ms'],
    [999.7, '1 s'],
    [1_530, '1,5 s'],
    [9_999.35, '10 s'],
  ])('%d milliseconds are %s', (milliseconds, text) => {
    expect(duration(milliseconds)).toBe(text);
  });

  test.each([
    ['2026-01-01T00:00:00.000Z', '0 s'],
    ['2025-12-31T23:59:01.000Z', '59 s'],
    ['2025-12-31T23:58:30.000Z', '1 min 30 s'],
    ['2025-12-31T22:00:00.000Z', '2 h'],
    ['2025-12-28T19:59:59.000Z', '3 d 4 h'],
    ['2026-01-01T00:01:00.000Z', '0 s'],
  ])('since %s it is %s', (since, text) => {
    expect(span(since, '2026-01-01T00:00:00.000Z')).toBe(text);
  });
});

describe('an amount that a person types', () => {
  test.each([
    ['1.234,56', 123_456],
    ['1234,56', 123_456],
    ['R$ 1.234,5', 123_450],
    [' 1.234 ', 123_400],
    ['0,05', 5],
    ['1234', 123_400],
  ])('%s', (text, cents) => {
    expect(centsTyped(text)).toBe(cents);
  });

  test.each(['', '1,234.56', '1234.56', '1.23', '1.2345,00', '-1,00', '1,234', 'dez', '1e3', '9'.repeat(13)])(
    '%s is none',
    (text) => {
      expect(centsTyped(text)).toBeUndefined();
    },
  );

  test('what is written is read', () => {
    for (const cents of [0, 1, 99, 100, 123_456, 99_999_999_999])
      expect(centsTyped(amount(cents))).toBe(cents);
  });
});

test.each([
  [['pt-BR', 'en'], 'pt-BR'],
  [['en-GB', 'pt'], 'en'],
  [['de', 'en-US'], 'en'],
  [['de'], 'pt-BR'],
  [[], 'pt-BR'],
])('a browser that asks for %j gets %s', (accepted, language) => {
  expect(preferred(accepted)).toBe(language);
});
