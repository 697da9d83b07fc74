import { describe, expect, test } from '@jest/globals';
import {
  amount,
  amountMeant,
  centsTyped,
  count,
  date,
  dayTyped,
  duration,
  exact,
  instant,
  momentTyped,
  percent,
  span,
  typedAmount,
  typedDay,
} from '../../../infrastructure/console/format.ts';
import { LANGUAGES, preferred, speakingIn } from '../../../infrastructure/console/language.ts';
import type { Language } from '../../../infrastructure/console/language.ts';

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
    // Bought a cent above a hundred thousand reais of faces: less than nothing, and nothing as it is shown.
    expect([percent(-0.0000012), percent(-0), percent(-0.0125)]).toEqual(['0%', '0%', '-1,25%']);
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

test('in English, numbers are written as English does, and days stay day first', () => {
  speakingIn('en', () => {
    expect([amount(123_456), count(1_234_567), percent(0.1234)]).toEqual([
      'R$1,234.56',
      '1,234,567',
      '12.34%',
    ]);
    expect([duration(1_530), exact('0.9993'), date('2026-11-22')]).toEqual(['1.5 s', '0.9993', '22/11/2026']);
  });
});

test('what goes on after waiting still speaks the language', async () => {
  const later = async (): Promise<string> => {
    await Promise.resolve();
    return amount(5);
  };
  const both = LANGUAGES.map((language) => speakingIn(language, later));
  expect((await Promise.all(both)).map(plain)).toEqual(['R$ 0,05', 'R$0.05']);
});

describe('an amount that a person types', () => {
  const READ: readonly (readonly [
    text: string,
    portuguese: number | undefined,
    english: number | undefined,
  ])[] = [
    ['1.234,56', 123_456, undefined],
    ['1,234.56', undefined, 123_456],
    ['1.234', 123_400, undefined],
    ['1,234', undefined, 123_400],
    ['1.234.567', 123_456_700, undefined],
    ['1,234,567', undefined, 123_456_700],
    ['1234,56', 123_456, undefined],
    ['1234.56', undefined, 123_456],
    ['R$ 1.234,5', 123_450, undefined],
    ['R$1,234.5', undefined, 123_450],
    ['0,05', 5, undefined],
    ['1.23', undefined, 123],
    ['1,23', 123, undefined],
    [' 1234 ', 123_400, 123_400],
    ['1.2345,00', undefined, undefined],
    ['12.34.567', undefined, undefined],
    ['1.234.5', undefined, undefined],
    ['1234.567', undefined, undefined],
    ['1 234', undefined, undefined],
    ['', undefined, undefined],
    ['-1,00', undefined, undefined],
    ['-1.00', undefined, undefined],
    ['dez', undefined, undefined],
    ['1e3', undefined, undefined],
    ['9'.repeat(13), undefined, undefined],
    ['999.999.999.999,99', 99_999_999_999_999, undefined],
    ['1.999.999.999.999', undefined, undefined],
    ['1,999,999,999,999', undefined, undefined],
  ];
  test.each(READ)('%s is %p in Portuguese and %p in English', (text, portuguese, english) => {
    expect([centsTyped(text, 'pt-BR'), centsTyped(text, 'en')]).toEqual([portuguese, english]);
  });

  test('what both languages take means the same in both', () => {
    const digits = ['1', '12', '123', '1234'];
    const beginnings = digits.flatMap((one) => ['', '.', ','].map((mark) => one + mark));
    const texts = beginnings.flatMap((one) =>
      [...beginnings, ''].flatMap((two) => digits.map((three) => one + two + three)),
    );
    for (const text of texts) {
      const read = LANGUAGES.map((language) => centsTyped(text, language));
      if (!read.includes(undefined)) expect([text, read[0]]).toEqual([text, read[1]]);
    }
  });

  const MEANT: readonly (readonly [Language, string, string | undefined])[] = [
    ['pt-BR', '1,234.56', '1.234,56'],
    ['pt-BR', '1,234', '1.234,00'],
    ['pt-BR', '1.23', '1,23'],
    ['en', '1.234,56', '1,234.56'],
    ['en', '1.234', '1,234.00'],
    ['en', 'ten', undefined],
  ];
  test.each(MEANT)('in %s, %s is likely %s', (language, text, meant) => {
    expect(speakingIn(language, () => amountMeant(text))).toBe(meant);
  });

  test.each(LANGUAGES)('what is written in %s is read', (language) => {
    speakingIn(language, () => {
      for (const cents of [0, 1, 99, 100, 123_456, 99_999_999_999]) {
        expect(centsTyped(amount(cents))).toBe(cents);
        expect(centsTyped(typedAmount(cents))).toBe(cents);
      }
    });
  });
});

describe('a day that a person types', () => {
  test.each([
    ['22/11/2026', '2026-11-22'],
    ['1/6/2026', '2026-06-01'],
    [' 2026-11-22 ', '2026-11-22'],
    ['29/02/2028', '2028-02-29'],
    ['29/02/2026', undefined],
    ['11/22/2026', undefined],
    ['22/11/26', undefined],
    ['22-11-2026', undefined],
    ['2026/11/22', undefined],
    ['', undefined],
  ])('%s is %s', (text, day) => {
    expect(dayTyped(text)).toBe(day);
  });

  test('one that is none stands as it was typed', () => {
    expect(['2026-11-22', '22/11/2026', '31/02/2026'].map(typedDay)).toEqual([
      ...['22/11/2026', '22/11/2026', '31/02/2026'],
    ]);
  });

  test.each([
    ['20/06/2026 15:00', '2026-06-20T18:00:59.999Z'],
    ['20/06/2026, 15:00:07', '2026-06-20T18:00:07.999Z'],
    ['20/06/2026 9:05', '2026-06-20T12:05:59.999Z'],
    ['20/06/2026', undefined],
    ['31/06/2026 10:00', undefined],
    ['20/06/2026 25:00', undefined],
  ])('the moment %s is %s', (text, moment) => {
    expect(momentTyped(text)).toBe(moment);
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
